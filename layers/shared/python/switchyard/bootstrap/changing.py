"""Cancelling and redriving, for whoever lets people ask for it."""

from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.cancelling import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.open_tasks import DynamoDbOpenTasks
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redriving import DynamoDbRedriving
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.domain.access.ceilings import WIDEST_CEILINGS, Ceilings
from switchyard.ports import BlobStore, DispatchQueue
from switchyard.usecases.access.open_tasks import OpenTaskLimit
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.redrive import RedriveRequests


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
    )
