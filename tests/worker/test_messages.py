"""What becomes of a message, answer by answer (`protocol.md`)."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import MissingBlob, Rejected, Unavailable
from switchyard.domain.ids import TaskRef, bare_task
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Payload
from switchyard.ports import Received
from tests.builders import TENANT, a_task
from tests.worker.yard import LongPoll, WorkerYard
from worker.parent.files.folder import TaskFolder
from worker.parent.health.stop import MOST_IN_A_ROW, Unhealthy


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


def test_a_worker_that_is_handed_a_message_twice_runs_its_task_once(yard: WorkerYard) -> None:
    ref = yard.add_task(given={"offline": {"delayMs": 1_000}})
    yard.memory.queue.send([TaskMessage.to(ref, run=1)])

    yard.work(until=yard.quiet)

    assert yard.told == ["Task Processing Started", "Task Completed"]


def test_a_bug_that_every_message_meets_ends_the_worker(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yard.memory.leases, "claim", lambda: None)  # called with arguments
    for number in range(MOST_IN_A_ROW):
        yard.add_task(f"t{number}")

    with pytest.raises(Unhealthy) as ended:
        yard.work(until=yard.quiet)

    assert isinstance(ended.value.__cause__, TypeError)
    assert yard.memory.queue.waiting == MOST_IN_A_ROW


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


def test_a_settled_task_whose_output_has_expired_is_told_without_it(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = yard.add_task()
    yard.work(until=yard.quiet)
    monkeypatch.setattr(yard.memory.payloads, "read", raising(MissingBlob("its result")))

    yard.memory.queue.send([TaskMessage.to(ref, run=1)])
    yard.work(until=yard.quiet)

    assert yard.told == ["Task Processing Started", "Task Completed", "Task Completed"]


def test_a_message_that_cannot_be_answered_does_not_end_the_worker(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = yard.add_task()
    yard.work(until=yard.quiet)
    asked: list[object] = []
    reading = raising(Rejected("not to be had"), asked)
    monkeypatch.setattr(yard.memory.payloads, "read", reading)

    yard.memory.queue.send([TaskMessage.to(ref, run=1)])
    yard.work(until=lambda: bool(asked))

    assert yard.memory.queue.waiting == 1


def raising(error: Exception, asked: list[object] | None = None) -> Callable[[TaskRef], Payload]:
    def read(ref: TaskRef) -> Payload:
        if asked is not None:
            asked.append(ref)
        raise error

    return read


@pytest.mark.parametrize("length", [255, 256])
def test_the_longest_id_has_a_folder(length: int, tmp_path: Path) -> None:
    task = replace(a_task(), ref=bare_task(TENANT, "x" * length), fence=1)
    folder = TaskFolder.fresh(tmp_path, Lease(task, "w"))
    assert (folder.path / "logs").is_dir()
