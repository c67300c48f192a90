"""What becomes of a message, answer by answer (`protocol.md`)."""

import time

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import START
from switchyard.domain.states import TaskState
from switchyard.ports import Received
from tests.builders import JOB
from tests.worker.yard import LongPoll, WorkerYard


def in_the_future() -> int:
    return round(time.time() * 1000) + 60_000


class Watched(LongPoll):
    """Counts what was received."""

    def __init__(self, yard: WorkerYard) -> None:
        super().__init__(yard.memory)
        self.received: list[Received] = []

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> list[Received]:
        messages = super().receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )
        self.received += messages
        return list(messages)


@pytest.mark.parametrize("body", ["no JSON", "{}", "[]", '{"schema": 1, "jobId": "../x"}'])
def test_a_malformed_message_is_left_for_the_dead_letters(yard: WorkerYard, body: str) -> None:
    yard.inbox = inbox = Watched(yard)
    yard.memory.queue.send_body(body)

    yard.work(until=lambda: bool(inbox.received))

    assert yard.memory.queue.waiting == 1
    assert yard.told == []


@pytest.mark.parametrize("task_id", ["unknown", START])
def test_a_message_for_a_task_that_is_not_there_is_left(yard: WorkerYard, task_id: str) -> None:
    yard.inbox = inbox = Watched(yard)
    yard.memory.queue.send([TaskMessage.to(JOB.task(task_id), run=1)])

    yard.work(until=lambda: bool(inbox.received))

    assert yard.memory.queue.waiting == 1


def test_a_message_for_a_running_task_is_redundant(yard: WorkerYard) -> None:
    yard.add_task(state=TaskState.PROCESSING, owner="another", lease_until_ms=in_the_future())

    yard.work(until=lambda: yard.memory.queue.waiting == 0)

    assert yard.task().owner == "another"
    assert yard.told == []


def test_a_task_that_may_not_run_yet_is_sent_again_with_a_delay(yard: WorkerYard) -> None:
    yard.inbox = inbox = Watched(yard)
    yard.add_task(not_before_ms=round(time.time() * 1000) + 1_000)

    yard.work(until=yard.quiet)

    assert yard.task().attempt == 1
    assert len({message.message_id for message in inbox.received}) == 2


def test_a_task_that_is_due_much_later_is_left_to_the_sweeper(yard: WorkerYard) -> None:
    yard.add_task(not_before_ms=in_the_future() + 3_600_000)

    yard.work(until=lambda: yard.memory.queue.waiting == 0)

    assert yard.task().state is TaskState.QUEUED


def test_an_exhausted_task_fails_and_is_told(yard: WorkerYard) -> None:
    yard.add_task(
        state=TaskState.PROCESSING, attempt=3, fence=5, owner="dead", last_error="out of memory"
    )

    yard.work(until=yard.quiet)

    outcome = yard.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "exhausted")
    assert "out of memory" in (outcome.error or "")
    assert yard.told == ["Task Failed"]


def test_a_flagged_task_that_nobody_runs_is_cancelled(yard: WorkerYard) -> None:
    yard.add_task(cancel_requested=True)

    yard.work(until=yard.quiet)

    assert yard.task().state is TaskState.CANCELLED
    assert yard.told == ["Task Cancelled"]


def test_a_settled_task_is_told_again_exactly_as_before(yard: WorkerYard) -> None:
    ref = yard.add_task(given={"x": 1})
    yard.work(until=yard.quiet)

    yard.memory.queue.send([TaskMessage.to(ref, run=1)])
    yard.work(until=yard.quiet)

    *_, first, second = yard.memory.bus.events
    assert yard.told == ["Task Processing Started", "Task Completed", "Task Completed"]
    assert second.detail() == first.detail()


def test_a_bug_ends_the_worker(yard: WorkerYard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yard.memory.leases, "claim", lambda: None)  # called with arguments
    yard.add_task()

    with pytest.raises(ExceptionGroup) as ended:
        yard.work(until=yard.quiet)

    assert ended.value.subgroup(TypeError) is not None


def test_a_message_stays_until_the_bus_took_the_event(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[int] = []
    accept = yard.memory.bus.put

    def refuse_first(events: list[object]) -> None:
        if not refused and any("Completed" in str(event) for event in events):
            refused.append(yard.memory.queue.waiting)
            raise Unavailable("the bus is down")
        accept(events)  # type: ignore[arg-type]

    monkeypatch.setattr(yard.memory.bus, "put", refuse_first)
    yard.add_task()

    yard.work(until=yard.quiet)

    assert refused == [1]
    assert yard.told[-1] == "Task Completed"
