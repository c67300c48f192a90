"""Dead letters of a queue: tasks that failed for good, of that queue and this run alone."""

import json
from typing import Any

import pytest

from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.system import SystemIds
from switchyard.contracts.events import Context, Event, TaskFailed
from switchyard.domain.scheduling.work_queues import UnknownWorkQueue, WorkQueue
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.event_reader import MemoryEventReader
from switchyard.testing.overdue import MemoryUnsettled
from switchyard.testing.scheduling.work_queues import MemoryWorkQueueStore
from switchyard.testing.transport import MemoryBlobStore, MemoryEventLog
from switchyard.usecases.queues.due_contents import DueContents
from switchyard.usecases.queues.items import MAX_ERROR, QueueItems
from switchyard.usecases.queues.work_queues import WorkQueues
from tests.builders import JOB_ID, NOW_MS, TENANT, a_task
from tests.fakes.harnesses.submitting import a_submitter

QUEUE = "default/builds"


class Harness:
    def __init__(self) -> None:
        self.memory, self.log = MemoryHarness(ManualClock()), MemoryEventLog()
        self.overflow = EventOverflow(MemoryBlobStore(), "bucket")
        store, unsettled = MemoryWorkQueueStore(), MemoryUnsettled(self.memory.state)
        store.create(WorkQueue(tenant=TENANT, name=QUEUE))
        self.items = QueueItems(
            queues=WorkQueues(
                store=store,
                contents=DueContents(unsettled=unsettled),
                definitions=self.memory.definitions,
                clock=ManualClock(),
            ),
            submitter=a_submitter(self.memory, clock=ManualClock(), ids=SystemIds()),
            reader=MemoryEventReader(self.log, self.overflow),
            tasks=unsettled,
        )
        self.now_ms = NOW_MS

    def failed(self, task_id: str, **facts: Any) -> Task:
        """Store a task that failed in its first run, and the event that says so."""
        known = {"state": TaskState.FAILED, "queue": QUEUE, "attempt": 3, "settled_at_ms": NOW_MS}
        task = a_task(task_id, **known | facts)
        self.memory.state.tasks[task.ref] = task
        self.now_ms += 1
        failure = TaskFailed(
            job_id=JOB_ID,
            request_id=task.ref.request_id,
            error="no",
            error_category="validation",
            retry_count=2,
            source="worker",
            run=1,
            attempt=3,
        )
        context = Context(environment="test", origin="test")
        event = Event.of(
            failure, tenant=TENANT, app="shop", timestamp_ms=self.now_ms, context=context
        )
        record = json.loads(self.overflow.detail_text(event.detail()))
        self.log.append(record | {"receivedAt": self.now_ms})
        return task

    def ids(self, queue: str = QUEUE) -> list[str]:
        page = self.items.dead_letters(TENANT, queue, limit=10)
        return [letter.task_id for letter in page.dead_letters]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_failures_of_the_queue_are_listed_newest_first(harness: Harness) -> None:
    harness.failed("older")
    harness.failed("of-another", queue=None)
    harness.failed("newer")

    assert harness.ids() == ["newer", "older"]
    assert harness.ids("default") == ["of-another"]


def test_a_letter_says_what_went_wrong_and_how_often_it_was_tried(harness: Harness) -> None:
    outcome = Outcome(state=TaskState.FAILED, error="x" * 1_000, error_category="validation")
    task = harness.failed("broken", outcome=outcome)

    (letter,) = harness.items.dead_letters(TENANT, QUEUE, limit=10).dead_letters

    assert (letter.request_id, letter.job_id, letter.name) == (
        task.ref.request_id,
        JOB_ID,
        "scrape",
    )
    assert (letter.attempts, letter.run, letter.error_category) == (3, 1, "validation")
    assert letter.error == "x" * MAX_ERROR
    assert letter.failed_at is not None


def test_what_was_redriven_or_is_gone_is_no_dead_letter(harness: Harness) -> None:
    harness.failed("redriven", run=2, state=TaskState.QUEUED)
    gone = harness.failed("gone")
    del harness.memory.state.tasks[gone.ref]

    assert harness.ids() == []


def test_a_page_looks_at_as_many_failures_as_asked_for(harness: Harness) -> None:
    for number in range(3):
        harness.failed(f"task-{number}")

    first = harness.items.dead_letters(TENANT, QUEUE, limit=2)
    rest = harness.items.dead_letters(TENANT, QUEUE, limit=2, cursor=first.cursor)

    assert [letter.task_id for letter in first.dead_letters] == ["task-2", "task-1"]
    assert [letter.task_id for letter in rest.dead_letters] == ["task-0"]
    assert rest.cursor is None


def test_an_unknown_queue_is_refused(harness: Harness) -> None:
    with pytest.raises(UnknownWorkQueue):
        harness.ids("default/none")
