"""The function behind the producer API."""

from dataclasses import dataclass
from typing import Any

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.access.limits import DynamoDbRequestRates
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbUnsettled
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch
from switchyard.adapters.dynamodb.scheduling.work_queues import DynamoDbWorkQueueStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.s3 import S3BlobStore, S3Links
from switchyard.adapters.sqs import SqsDispatchQueue
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.job_requests import (
    cancel_requests,
    held_approvals,
    open_task_limit,
    redrive_requests,
    submitter,
    task_decider,
)
from switchyard.bootstrap.pools import pool_directory
from switchyard.bootstrap.triggers import trigger_operator
from switchyard.bootstrap.wiring import definition_store, emitter_for, named_queues
from switchyard.domain.access.limits import Ceilings, RequestLimits
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    DispatchQueue,
    EventReader,
    JobStore,
    PauseSwitch,
    Payloads,
    TaskGraph,
)
from switchyard.settings import ApiSettings
from switchyard.usecases.access.limits import Gate
from switchyard.usecases.definitions.delete_definition import DefinitionRemover
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.add_tasks import TaskAdder
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.job_files import Uploads
from switchyard.usecases.jobs.list_approvals import HeldApprovals
from switchyard.usecases.jobs.redrive_requests import RedriveRequests
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.jobs.task_files import TaskFiles
from switchyard.usecases.queues.due_contents import DueContents
from switchyard.usecases.queues.items import QueueItems
from switchyard.usecases.queues.work_queues import WorkQueues
from switchyard.usecases.scheduling.pool_directory import PoolDirectory
from switchyard.usecases.triggers.tenant_triggers import TenantTriggers


@dataclass(frozen=True, kw_only=True)
class ApiPorts:
    gate: Gate
    submitter: Submitter
    adder: TaskAdder
    cancels: CancelRequests
    redrives: RedriveRequests
    decider: TaskDecider
    approvals: HeldApprovals
    pause_switch: PauseSwitch
    pools: PoolDirectory
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    definitions: DefinitionStore
    remover: DefinitionRemover
    dispatches: DispatchQueue
    blobs: BlobStore
    reader: EventReader
    emitter: Emitter
    clock: Clock
    files: TaskFiles
    uploads: Uploads
    triggers: TenantTriggers
    queue_items: QueueItems
    ceilings: Ceilings
    app: str
    stage: str


def api_ports(settings: ApiSettings) -> ApiPorts:
    dynamodb, s3 = aws.client("dynamodb"), aws.client("s3")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(s3, settings.s3_bucket)
    definitions = definition_store(dynamodb, settings.task_definitions_table)
    sqs = aws.client("sqs")
    dispatches = SqsDispatchQueue(sqs, settings.dispatch_queue_url, settings.job_queue_url)
    emitter = emitter_for(settings, origin="producer-api")
    links = S3Links(s3, settings.s3_bucket)
    files = TaskFiles(blobs=blobs, links=links, bucket=settings.s3_bucket)
    reader = _reader(settings, dynamodb, blobs)
    intake = submitter(settings, state=state, blobs=blobs, dispatches=dispatches, emitter=emitter)
    return ApiPorts(
        gate=_gate(settings, state),
        submitter=intake,
        adder=_adder(settings, state, blobs, dispatches, emitter),
        cancels=cancel_requests(state, dispatches, emitter),
        pause_switch=DynamoDbPauseSwitch(state),
        pools=pool_directory(settings.pools, state, function_clock()),
        redrives=redrive_requests(state, blobs, dispatches, settings.ceilings, definitions),
        decider=task_decider(state, blobs, emitter),
        approvals=held_approvals(state, blobs),
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        payloads=DynamoDbPayloads(state, blobs),
        definitions=definitions,
        remover=_remover(definitions, state),
        dispatches=dispatches,
        blobs=blobs,
        reader=reader,
        emitter=emitter,
        clock=function_clock(),
        files=files,
        uploads=Uploads(blobs=blobs, links=links, clock=function_clock()),
        triggers=_triggers(settings, state, definitions, sqs),
        queue_items=_queue_items(settings, state, definitions, intake, reader),
        ceilings=settings.ceilings,
        app=settings.app_name,
        stage=settings.stage,
    )


def _triggers(
    settings: ApiSettings, state: DynamoDbTable, definitions: DefinitionStore, sqs: Any
) -> TenantTriggers:
    operator = trigger_operator(
        settings.stage,
        state,
        definitions,
        settings.ceilings,
        rules=EventBridgeRules(
            aws.client("events"),
            bus_name=settings.eventbridge_bus_name,
            queue_arn=settings.trigger_queue_arn,
            dead_letters_arn=settings.trigger_dead_letters_arn,
        ),
        sqs=sqs,
        queue_arn=settings.trigger_queue_arn,
    )
    return TenantTriggers(operator=operator, clock=function_clock(), ids=SystemIds())


def _queue_items(
    settings: ApiSettings,
    state: DynamoDbTable,
    definitions: DefinitionStore,
    submits: Submitter,
    reader: EventReader,
) -> QueueItems:
    unsettled = DynamoDbUnsettled(state)
    queues = WorkQueues(
        store=DynamoDbWorkQueueStore(state),
        contents=DueContents(unsettled=unsettled),
        definitions=definitions,
        clock=function_clock(),
        groups=settings.queue_groups,
    )
    return QueueItems(queues=queues, submitter=submits, reader=reader, tasks=unsettled)


def _reader(settings: ApiSettings, dynamodb: Any, blobs: S3BlobStore) -> DynamoDbEventReader:
    events = DynamoDbTable(dynamodb, settings.dynamodb_events_table_name)
    return DynamoDbEventReader(events, EventOverflow(blobs, settings.s3_bucket))


def _gate(settings: ApiSettings, state: DynamoDbTable) -> Gate:
    limits = RequestLimits(
        per_second=settings.requests_per_second,
        burst=settings.requests_at_once,
        per_day=settings.requests_per_day,
    )
    return Gate(rates=DynamoDbRequestRates(state), limits=limits, clock=function_clock())


def _adder(
    settings: ApiSettings,
    state: DynamoDbTable,
    blobs: BlobStore,
    dispatches: DispatchQueue,
    emitter: Emitter,
) -> TaskAdder:
    payloads = DynamoDbPayloads(state, blobs)
    return TaskAdder(
        jobs=DynamoDbJobStore(state),
        payloads=payloads,
        additions=DynamoDbTaskAdditions(state, payloads),
        blobs=blobs,
        definitions=definition_store(aws.client("dynamodb"), settings.task_definitions_table),
        dispatches=dispatches,
        emitter=emitter,
        clock=function_clock(),
        open_tasks=open_task_limit(state, settings.ceilings),
        ceilings=settings.ceilings,
        queues=named_queues(state, settings.queue_groups),
    )


def _remover(definitions: DefinitionStore, state: DynamoDbTable) -> DefinitionRemover:
    return DefinitionRemover(
        definitions=definitions,
        jobs=DynamoDbJobStore(state),
        triggers=DynamoDbTriggerStore(state),
        clock=function_clock(),
    )
