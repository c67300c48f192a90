"""Wires ports to adapters, once per deployable: the only place that knows both."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ParamSpec, Protocol, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.ecs import scale_in_protection
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.eventbridge import EventBridgeBus
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsBacklog, SqsTaskQueue
from switchyard.adapters.system import (
    SystemClock,
    SystemIds,
    SystemRandomness,
    ThreadOffload,
    system_sleep,
)
from switchyard.contracts.events import Context
from switchyard.domain.errors import Unavailable
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    Clock,
    DefinitionStore,
    EventLog,
    Ids,
    JobIntake,
    JobStore,
    Payloads,
    Randomness,
    ScaleInProtection,
    Sleep,
    TaskGraph,
    TaskInbox,
    TaskLeases,
    TaskQueue,
)
from switchyard.settings import (
    ApiSettings,
    AuthorizerSettings,
    DispatcherSettings,
    EmitterSettings,
    SaveEventSettings,
    SweeperSettings,
    WorkerSettings,
)
from switchyard.usecases.api_keys import issue_api_key
from switchyard.usecases.dispatch_task import Dispatcher
from switchyard.usecases.emitting import Emitter
from switchyard.usecases.sweep import Sweeper

P = ParamSpec("P")
R = TypeVar("R")

PORT_THREADS_PER_SLOT = 4


class Offload(Protocol):
    """The one bridge from the event loop to ports, which block."""

    def __call__(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]: ...


@dataclass(frozen=True, kw_only=True)
class ApiPorts:
    intake: JobIntake
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    definitions: DefinitionStore
    emitter: Emitter
    clock: Clock
    ids: Ids
    bucket: str


@dataclass(frozen=True, kw_only=True)
class SaveEventPorts:
    log: EventLog
    clock: Clock
    retention: timedelta


@dataclass(frozen=True, kw_only=True)
class WorkerPorts:
    clock: Clock
    sleep: Sleep
    offload: Offload
    randomness: Randomness
    worker_id: str
    leases: TaskLeases
    payloads: Payloads
    definitions: DefinitionStore
    queue: TaskQueue
    inbox: TaskInbox
    blobs: BlobStore
    emitter: Emitter
    protection: ScaleInProtection


def api_ports(settings: ApiSettings) -> ApiPorts:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    payloads = DynamoDbPayloads(state, blobs)
    return ApiPorts(
        intake=DynamoDbJobIntake(state, payloads),
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        payloads=payloads,
        definitions=_definitions(dynamodb, settings.task_definitions_table),
        emitter=_emitter(settings, origin="producer-api"),
        clock=SystemClock(),
        ids=SystemIds(),
        bucket=settings.s3_bucket,
    )


def authorizer_keys(settings: AuthorizerSettings) -> ApiKeys:
    return DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), settings.state_table_name))


def dispatcher(settings: DispatcherSettings) -> Dispatcher:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    return Dispatcher(
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        queue=SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url),
        emitter=_emitter(settings, origin="dispatcher"),
        clock=SystemClock(),
    )


def sweeper(settings: SweeperSettings) -> Sweeper:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    jobs, graph = DynamoDbJobStore(state), DynamoDbTaskGraph(state)
    queue = SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url)
    emitter = _emitter(settings, origin="sweeper")
    clock = SystemClock()
    return Sweeper(
        overdue=DynamoDbOverdue(state),
        backlog=SqsBacklog(),
        jobs=jobs,
        graph=graph,
        payloads=DynamoDbPayloads(state, S3BlobStore(aws.client("s3"), settings.s3_bucket)),
        queue=queue,
        dispatcher=Dispatcher(jobs=jobs, graph=graph, queue=queue, emitter=emitter, clock=clock),
        emitter=emitter,
        clock=clock,
    )


def save_event_ports(settings: SaveEventSettings) -> SaveEventPorts:
    table = DynamoDbTable(aws.client("dynamodb"), settings.dynamodb_events_table_name)
    return SaveEventPorts(
        log=DynamoDbEventLog(table),
        clock=SystemClock(),
        retention=timedelta(days=settings.events_retention_days),
    )


def worker_ports(settings: WorkerSettings) -> WorkerPorts:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    queue = SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    worker_id = SystemIds().new_worker_id()
    return WorkerPorts(
        clock=SystemClock(),
        sleep=system_sleep,
        offload=ThreadOffload(threads=PORT_THREADS_PER_SLOT * settings.max_concurrent_claude + 1),
        randomness=SystemRandomness(),
        worker_id=worker_id,
        leases=DynamoDbTaskLeases(state),
        payloads=DynamoDbPayloads(state, blobs),
        definitions=_definitions(dynamodb, settings.task_definitions_table),
        queue=queue,
        inbox=queue,
        blobs=blobs,
        emitter=_emitter(settings, origin="worker", worker_id=worker_id),
        protection=scale_in_protection(os.environ),
    )


def new_api_key(tenant: str, *, state_table_name: str) -> str:
    """Issue a key in the stage that the environment's credentials reach.

    Raise `Unavailable` when credentials, region, permission or table are missing.
    """
    try:
        keys = DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), state_table_name))
        return issue_api_key(tenant, keys=keys, ids=SystemIds(), clock=SystemClock())
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error


def stage_endpoint(stage: str) -> str:
    """The URL of a deployed stage's API, from its stack's outputs."""
    return CloudFormationOutputs().of(f"switchyard-{stage}-producer-api", "ApiUrl")


def stage_state_table(stage: str) -> str:
    """The name of a deployed stage's state table, from its stack's outputs."""
    return CloudFormationOutputs().of(f"switchyard-{stage}-infrastructure", "StateTableName")


def _definitions(dynamodb: Any, table_name: str) -> DefinitionStore:
    return DynamoDbDefinitionStore(DynamoDbTable(dynamodb, table_name))


def _emitter(settings: EmitterSettings, *, origin: str, worker_id: str | None = None) -> Emitter:
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    overflow = EventOverflow(blobs, settings.s3_bucket)
    return Emitter(
        EventBridgeBus(aws.client("events"), settings.eventbridge_bus_name, overflow),
        app=settings.app_name,
        context=Context(environment=settings.stage, origin=origin, worker_id=worker_id),
    )
