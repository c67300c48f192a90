"""The Lambda functions."""

from dataclasses import dataclass
from datetime import timedelta

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog, DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_adoption import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsBacklog, SqsTaskQueue
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.bootstrap.wiring import definition_store, emitter_for, quarantine_for
from switchyard.ports import (
    ApiKeys,
    Clock,
    DefinitionStore,
    EventLog,
    EventReader,
    Ids,
    JobIntake,
    JobStore,
    Payloads,
    TaskGraph,
)
from switchyard.settings import (
    AlertSettings,
    ApiSettings,
    AuthorizerSettings,
    DeadLetterSettings,
    DispatcherSettings,
    SaveEventSettings,
    SweeperSettings,
)
from switchyard.usecases.adopt_task import Adopter
from switchyard.usecases.dispatch_task import Dispatcher
from switchyard.usecases.emitting import Emitter
from switchyard.usecases.keep_undeliverable import UndeliverableKeeper
from switchyard.usecases.process_dead_letter import DeadLetterProcessor
from switchyard.usecases.sweep import Sweeper


@dataclass(frozen=True, kw_only=True)
class ApiPorts:
    intake: JobIntake
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    definitions: DefinitionStore
    reader: EventReader
    emitter: Emitter
    clock: Clock
    ids: Ids
    bucket: str
    app: str


@dataclass(frozen=True, kw_only=True)
class SaveEventPorts:
    log: EventLog
    clock: Clock
    retention: timedelta


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
        definitions=definition_store(dynamodb, settings.task_definitions_table),
        reader=DynamoDbEventReader(
            DynamoDbTable(dynamodb, settings.dynamodb_events_table_name),
            EventOverflow(blobs, settings.s3_bucket),
        ),
        emitter=emitter_for(settings, origin="producer-api"),
        clock=SystemClock(),
        ids=SystemIds(),
        bucket=settings.s3_bucket,
        app=settings.app_name,
    )


def authorizer_keys(settings: AuthorizerSettings) -> ApiKeys:
    return DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), settings.state_table_name))


def dispatcher(settings: DispatcherSettings) -> Dispatcher:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    return Dispatcher(
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        queue=SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url),
        emitter=emitter_for(settings, origin="dispatcher"),
        clock=SystemClock(),
    )


def sweeper(settings: SweeperSettings) -> Sweeper:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    jobs, graph = DynamoDbJobStore(state), DynamoDbTaskGraph(state)
    queue = SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url)
    emitter = emitter_for(settings, origin="sweeper")
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


def dead_letter_processor(settings: DeadLetterSettings) -> DeadLetterProcessor:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    payloads, clock = DynamoDbPayloads(state, blobs), SystemClock()
    return DeadLetterProcessor(
        tenant_id=settings.tenant_id,
        graph=DynamoDbTaskGraph(state),
        leases=DynamoDbTaskLeases(state),
        payloads=payloads,
        queue=SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url),
        adopter=Adopter(
            definitions=definition_store(dynamodb, settings.task_definitions_table),
            adoption=DynamoDbTaskAdoption(state, payloads),
            clock=clock,
        ),
        quarantine=quarantine_for(settings.sqs_queue_url, blobs, clock),
        emitter=emitter_for(settings, origin="dead-letters"),
        clock=clock,
    )


def save_event_ports(settings: SaveEventSettings) -> SaveEventPorts:
    table = DynamoDbTable(aws.client("dynamodb"), settings.dynamodb_events_table_name)
    return SaveEventPorts(
        log=DynamoDbEventLog(table),
        clock=SystemClock(),
        retention=timedelta(days=settings.events_retention_days),
    )


def undeliverable_keeper(settings: AlertSettings) -> UndeliverableKeeper:
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    return UndeliverableKeeper(blobs=blobs, clock=SystemClock())
