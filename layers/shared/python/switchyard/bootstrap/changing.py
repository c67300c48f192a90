"""Cancelling and redriving, for whoever lets people ask for it."""

from switchyard.adapters.dynamodb.cancelling import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redriving import DynamoDbRedriving
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.system import SystemClock
from switchyard.ports import BlobStore, DispatchQueue
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
        clock=SystemClock(),
    )


def redrive_requests(
    state: DynamoDbTable, blobs: BlobStore, dispatches: DispatchQueue
) -> RedriveRequests:
    return RedriveRequests(
        jobs=DynamoDbJobStore(state),
        redriving=DynamoDbRedriving(state, DynamoDbPayloads(state, blobs)),
        blobs=blobs,
        dispatches=dispatches,
        clock=SystemClock(),
    )
