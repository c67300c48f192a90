"""Builds the parts that several deployables have in common."""

from typing import Any

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.scheduling.work_queues import DynamoDbWorkQueueStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventBridgeBus, EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.events import Context
from switchyard.domain.scheduling.work_queues import DEFAULT_GROUPS
from switchyard.ports import BlobStore, Clock, DefinitionStore
from switchyard.settings import EmitterSettings
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.queues.named_queues import NamedQueues


def definition_store(dynamodb: Any, table_name: str) -> DefinitionStore:
    return DynamoDbDefinitionStore(DynamoDbTable(dynamodb, table_name))


def named_queues(state: DynamoDbTable, groups: tuple[str, ...] = DEFAULT_GROUPS) -> NamedQueues:
    """`groups` are the stage's, where queues of other groups are refused."""
    return NamedQueues(store=DynamoDbWorkQueueStore(state), groups=groups)


def emitter_for(settings: EmitterSettings, *, origin: str, worker_id: str | None = None) -> Emitter:
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    overflow = EventOverflow(blobs, settings.s3_bucket)
    return Emitter(
        EventBridgeBus(aws.client("events"), settings.eventbridge_bus_name, overflow),
        app=settings.app_name,
        context=Context(environment=settings.stage, origin=origin, worker_id=worker_id),
    )


def parking_for(queue_url: str, blobs: BlobStore, clock: Clock) -> MessageParking:
    """A queue's URL ends in its name."""
    return MessageParking(blobs=blobs, clock=clock, queue=queue_url.rpartition("/")[2])
