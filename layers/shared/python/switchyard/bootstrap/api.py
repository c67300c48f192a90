"""The function behind the producer API."""

from dataclasses import dataclass

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.consumption import DynamoDbConsumption
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.request_rates import DynamoDbRequestRates
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.s3 import S3BlobStore, S3Links
from switchyard.adapters.sqs_dispatch import SqsDispatchQueue
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.changing import cancel_requests, open_task_limit, redrive_requests
from switchyard.bootstrap.wiring import definition_store, emitter_for
from switchyard.domain.access.ceilings import Ceilings
from switchyard.domain.access.rates import Limits
from switchyard.ports import (
    BlobStore,
    Clock,
    Consumption,
    DefinitionStore,
    DispatchQueue,
    EventReader,
    JobStore,
    Payloads,
    TaskGraph,
)
from switchyard.settings import ApiSettings
from switchyard.usecases.access.admit_request import Gate
from switchyard.usecases.definitions.delete_definition import DefinitionRemover
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.add_tasks import TaskAdder
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.redrive import RedriveRequests
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.jobs.task_files import TaskFiles


@dataclass(frozen=True, kw_only=True)
class ApiPorts:
    gate: Gate
    submitter: Submitter
    adder: TaskAdder
    cancels: CancelRequests
    redrives: RedriveRequests
    consumption: Consumption
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
    ceilings: Ceilings
    app: str
    stage: str


def api_ports(settings: ApiSettings) -> ApiPorts:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    s3 = aws.client("s3")
    blobs = S3BlobStore(s3, settings.s3_bucket)
    payloads, jobs = DynamoDbPayloads(state, blobs), DynamoDbJobStore(state)
    definitions = definition_store(dynamodb, settings.task_definitions_table)
    dispatches = SqsDispatchQueue(
        aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
    )
    emitter, clock = emitter_for(settings, origin="producer-api"), function_clock()
    open_tasks = open_task_limit(state, settings.ceilings)
    return ApiPorts(
        gate=Gate(
            rates=DynamoDbRequestRates(state),
            limits=Limits(
                per_second=settings.requests_per_second,
                burst=settings.requests_at_once,
                per_day=settings.requests_per_day,
            ),
            clock=clock,
        ),
        submitter=Submitter(
            intake=DynamoDbJobIntake(state, payloads),
            jobs=jobs,
            definitions=definitions,
            submission_keys=DynamoDbSubmissionKeys(state),
            tenants=DynamoDbTenantStore(state),
            open_tasks=open_tasks,
            blobs=blobs,
            dispatches=dispatches,
            emitter=emitter,
            clock=clock,
            ids=SystemIds(),
            ceilings=settings.ceilings,
            webhooks_may_reach_private=settings.webhooks_may_reach_private,
        ),
        adder=TaskAdder(
            jobs=jobs,
            payloads=payloads,
            additions=DynamoDbTaskAdditions(state, payloads),
            definitions=definitions,
            dispatches=dispatches,
            emitter=emitter,
            clock=clock,
            open_tasks=open_tasks,
            ceilings=settings.ceilings,
        ),
        cancels=cancel_requests(state, dispatches, emitter),
        consumption=DynamoDbConsumption(state),
        redrives=redrive_requests(state, blobs, dispatches, settings.ceilings),
        jobs=jobs,
        graph=DynamoDbTaskGraph(state),
        payloads=payloads,
        definitions=definitions,
        remover=DefinitionRemover(
            definitions=definitions,
            jobs=jobs,
            triggers=DynamoDbTriggerStore(state),
            clock=clock,
        ),
        dispatches=dispatches,
        blobs=blobs,
        reader=DynamoDbEventReader(
            DynamoDbTable(dynamodb, settings.dynamodb_events_table_name),
            EventOverflow(blobs, settings.s3_bucket),
        ),
        emitter=emitter,
        clock=clock,
        files=TaskFiles(
            blobs=blobs, links=S3Links(s3, settings.s3_bucket), bucket=settings.s3_bucket
        ),
        ceilings=settings.ceilings,
        app=settings.app_name,
        stage=settings.stage,
    )
