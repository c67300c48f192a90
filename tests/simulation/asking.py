"""What the API does with requests about jobs under way: it may die on the way."""

from collections.abc import Callable, Collection, Sequence

from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.contracts.changes import RedriveJob
from switchyard.contracts.jobs import AddTasks
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.usecases.jobs.add_tasks import TaskAdder
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.redrive_requests import RedriveRequests
from tests.simulation.cloud.cloud import Seen
from tests.simulation.jobs import a_limit
from tests.simulation.reference import AGAIN, Declared
from tests.simulation.scripted.shapes import requests

Call = Callable[[Seen], None]


def adding(ref: JobRef, tasks: Sequence[Declared]) -> Call:
    def add(seen: Seen) -> None:
        state = seen.table(seen.cloud.state)
        payloads = DynamoDbPayloads(state, seen.blobs())
        adder = TaskAdder(
            jobs=DynamoDbJobStore(state),
            payloads=payloads,
            additions=DynamoDbTaskAdditions(state, payloads),
            blobs=seen.blobs(),
            definitions=DynamoDbDefinitionStore(seen.table(seen.cloud.definitions)),
            dispatches=seen.dispatches(),
            emitter=seen.emitter(),
            clock=seen.node,
            open_tasks=a_limit(state, seen),
        )
        adder.add(ref, AddTasks.model_validate({"tasks": requests(tasks)}))

    return add


def cancelling(ref: JobRef) -> Call:
    def cancel(seen: Seen) -> None:
        _cancel_requests(seen).request_cancel(ref)

    return cancel


def cancelling_task(ref: TaskRef) -> Call:
    def cancel(seen: Seen) -> None:
        _cancel_requests(seen).cancel_task(ref)

    return cancel


def redriving(ref: JobRef, selected: Collection[str]) -> Call:
    """Redrive the selected tasks, or all that failed, timed out or were cancelled.

    One with a mark in front runs with everything after it.
    """
    first = [name.removeprefix(AGAIN) for name in selected if name.startswith(AGAIN)]
    named = [name for name in selected if not name.startswith(AGAIN)]

    def redrive(seen: Seen) -> None:
        state, blobs = seen.table(seen.cloud.state), seen.blobs()
        requests = RedriveRequests(
            jobs=DynamoDbJobStore(state),
            redriving=DynamoDbRedriving(state, DynamoDbPayloads(state, blobs)),
            blobs=blobs,
            dispatches=seen.dispatches(),
            clock=seen.node,
            open_tasks=a_limit(state, seen),
        )
        requests.request_redrive(
            ref, RedriveJob(tasks=tuple(sorted(named)), from_=tuple(sorted(first)))
        )

    return redrive


def _cancel_requests(seen: Seen) -> CancelRequests:
    state = seen.table(seen.cloud.state)
    return CancelRequests(
        jobs=DynamoDbJobStore(state),
        graph=DynamoDbTaskGraph(state),
        cancelling=DynamoDbCancelling(state),
        dispatches=seen.dispatches(),
        emitter=seen.emitter(),
        clock=seen.node,
    )
