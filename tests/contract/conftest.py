"""Every adapter of a port, for the same assertions: in memory, and boto3 against moto."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog, DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, deserialized
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    DefinitionStore,
    EventReader,
    JobIntake,
    JobStore,
    Overdue,
    Payloads,
    TaskGraph,
    TaskLeases,
)
from tests.fakes.moto_tables import BUCKET, REGION, a_table, events_table, state_table


@dataclass
class Backend:
    intake: JobIntake
    jobs: JobStore
    leases: TaskLeases
    graph: TaskGraph
    overdue: Overdue
    payloads: Payloads
    definitions: DefinitionStore
    keys: ApiKeys
    log: Any
    reader: EventReader
    blobs: BlobStore
    queue: Any
    kept_events: Callable[[], list[dict[str, Any]]]


def in_memory() -> Iterator[Backend]:
    yard = MemoryYard(ManualClock())
    yield Backend(
        intake=yard.intake,
        jobs=yard.jobs,
        leases=yard.leases,
        graph=yard.graph,
        overdue=yard.overdue,
        payloads=yard.payloads,
        definitions=yard.definitions,
        keys=yard.keys,
        log=yard.log,
        reader=yard.reader,
        blobs=yard.blobs,
        queue=yard.queue,
        kept_events=lambda: list(yard.log.records.values()),
    )


def on_moto() -> Iterator[Backend]:
    with mock_aws():
        dynamodb = aws.client("dynamodb")
        state = DynamoDbTable(dynamodb, state_table(dynamodb))
        events = DynamoDbTable(dynamodb, events_table(dynamodb))
        definitions = DynamoDbTable(dynamodb, a_table(dynamodb, "definitions-test"))
        s3 = aws.client("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        sqs = aws.client("sqs")
        queue_url = sqs.create_queue(QueueName="tasks")["QueueUrl"]
        blobs = S3BlobStore(s3, BUCKET)
        payloads = DynamoDbPayloads(state, blobs)
        yield Backend(
            intake=DynamoDbJobIntake(state, payloads),
            jobs=DynamoDbJobStore(state),
            leases=DynamoDbTaskLeases(state),
            graph=DynamoDbTaskGraph(state),
            overdue=DynamoDbOverdue(state),
            payloads=payloads,
            definitions=DynamoDbDefinitionStore(definitions),
            keys=DynamoDbApiKeys(state),
            log=DynamoDbEventLog(events),
            reader=DynamoDbEventReader(events, EventOverflow(blobs, BUCKET)),
            blobs=blobs,
            queue=SqsTaskQueue(sqs, queue_url),
            kept_events=lambda: [
                deserialized(item) for item in dynamodb.scan(TableName=events.name)["Items"]
            ],
        )


@pytest.fixture(params=[in_memory, on_moto], ids=["memory", "moto"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    yield from request.param()
