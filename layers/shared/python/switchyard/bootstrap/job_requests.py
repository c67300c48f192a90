"""Wires what accepts requests about jobs: submitting, cancelling, redriving, and triggers."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.access.limits import DynamoDbOpenTasks
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsDispatchQueue, SqsQueueSender
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.wiring import definition_store, emitter_for, named_queues, parking_for
from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.ports import BlobStore, DefinitionStore, DispatchQueue
from switchyard.settings import ApiSettings, SignalSettings, TriggerSettings
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.held_task import HeldTaskReader
from switchyard.usecases.jobs.list_approvals import HeldApprovals
from switchyard.usecases.jobs.redrive_requests import RedriveRequests
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.signals.match_event import SignalMatcher
from switchyard.usecases.triggers.start_triggered import TriggerStarter


def trigger_starter(settings: TriggerSettings) -> TriggerStarter:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    clock = function_clock()
    return TriggerStarter(
        triggers=DynamoDbTriggerStore(state),
        jobs=DynamoDbJobStore(state),
        submitter=submitter(
            settings,
            state=state,
            blobs=blobs,
            dispatches=SqsDispatchQueue(
                aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
            ),
            emitter=emitter_for(settings, origin="triggers"),
        ),
        parking=parking_for(settings.trigger_queue_url, blobs, clock),
        clock=clock,
        bucket=settings.s3_bucket,
    )


def submitter(
    settings: ApiSettings | TriggerSettings,
    *,
    state: DynamoDbTable,
    blobs: BlobStore,
    dispatches: DispatchQueue,
    emitter: Emitter,
) -> Submitter:
    return Submitter(
        intake=DynamoDbJobIntake(state, DynamoDbPayloads(state, blobs)),
        jobs=DynamoDbJobStore(state),
        definitions=definition_store(aws.client("dynamodb"), settings.task_definitions_table),
        submission_keys=DynamoDbSubmissionKeys(state),
        tenants=DynamoDbTenantStore(state),
        open_tasks=open_task_limit(state, settings.ceilings),
        blobs=blobs,
        dispatches=dispatches,
        emitter=emitter,
        clock=function_clock(),
        ids=SystemIds(),
        ceilings=settings.ceilings,
        webhooks_may_reach_private=settings.webhooks_may_reach_private,
        queues=named_queues(state, settings.queue_groups),
    )


def cancel_requests(
    state: DynamoDbTable, dispatches: DispatchQueue, emitter: Emitter
) -> CancelRequests:
    return CancelRequests(
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        cancelling=DynamoDbCancelling(state),
        dispatches=dispatches,
        emitter=emitter,
        clock=function_clock(),
    )


def held_task_reader(state: DynamoDbTable, blobs: BlobStore) -> HeldTaskReader:
    return HeldTaskReader(
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        payloads=DynamoDbPayloads(state, blobs),
        blobs=blobs,
    )


def held_approvals(state: DynamoDbTable, blobs: BlobStore) -> HeldApprovals:
    return HeldApprovals(
        open_tasks=DynamoDbOpenTasks(state),
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        payloads=DynamoDbPayloads(state, blobs),
    )


def task_decider(state: DynamoDbTable, blobs: BlobStore, emitter: Emitter) -> TaskDecider:
    return TaskDecider(
        reader=held_task_reader(state, blobs),
        graph=DynamoDbTaskGraph(state),
        emitter=emitter,
        clock=function_clock(),
        ids=SystemIds(),
    )


def signal_matcher(settings: SignalSettings) -> SignalMatcher:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    return SignalMatcher(
        subscriptions=DynamoDbSignalSubscriptions(state),
        decider=task_decider(state, blobs, emitter_for(settings, origin="signals")),
        graph=DynamoDbTaskGraph(state),
        queue_sender=SqsQueueSender(aws.client("sqs")),
        queue=settings.signal_queue_url.rpartition("/")[2],
    )


def open_task_limit(state: DynamoDbTable, ceilings: Ceilings) -> OpenTaskLimit:
    return OpenTaskLimit(
        open_tasks=DynamoDbOpenTasks(state),
        jobs=DynamoDbJobStore(state),
        clock=function_clock(),
        most=ceilings.max_open_tasks,
    )


def redrive_requests(
    state: DynamoDbTable,
    blobs: BlobStore,
    dispatches: DispatchQueue,
    ceilings: Ceilings | None = None,
    definitions: DefinitionStore | None = None,
) -> RedriveRequests:
    """`ceilings` bound what a request asks for: who presses a button operates the stage."""
    return RedriveRequests(
        jobs=DynamoDbJobStore(state),
        redriving=DynamoDbRedriving(state, DynamoDbPayloads(state, blobs)),
        blobs=blobs,
        dispatches=dispatches,
        clock=function_clock(),
        ceilings=ceilings or WIDEST_CEILINGS,
        open_tasks=open_task_limit(state, ceilings) if ceilings else None,
        definitions=definitions,
        payloads=DynamoDbPayloads(state, blobs),
        queues=named_queues(state),
    )
