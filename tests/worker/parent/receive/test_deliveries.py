"""What becomes of a message, answer by answer (`protocol.md`)."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import MissingBlob, Rejected, Unavailable
from switchyard.domain.ids import TaskRef, bare_task
from switchyard.domain.scheduling.ready import ready_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Payload
from switchyard.ports import Received
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.health.stop import MOST_IN_A_ROW, Unhealthy
from tests.builders import TENANT, a_task
from tests.worker.harness import LongPoll, WorkerHarness


def in_the_future() -> int:
    return round(time.time() * 1000) + 60_000


class Watched(LongPoll):
    """Counts what was received."""

    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness.memory)
        self.received: list[Received] = []

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> list[Received]:
        messages = super().receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )
        self.received += messages
        return list(messages)


def test_a_message_for_a_running_task_is_redundant(harness: WorkerHarness) -> None:
    harness.add_task(state=TaskState.PROCESSING, owner="another", lease_until_ms=in_the_future())

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    assert harness.task().owner == "another"
    assert harness.emitted == []


def test_a_task_that_may_not_run_yet_is_sent_again_with_a_delay(harness: WorkerHarness) -> None:
    harness.inbox = inbox = Watched(harness)
    harness.add_task(not_before_ms=round(time.time() * 1000) + 1_000)

    harness.work(until=harness.quiet)

    assert harness.task().attempt == 1
    assert len({message.message_id for message in inbox.received}) == 2


def test_a_task_that_is_due_much_later_is_left_to_the_sweeper(harness: WorkerHarness) -> None:
    harness.add_task(not_before_ms=in_the_future() + 3_600_000)

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    assert harness.task().state is TaskState.QUEUED


def test_an_exhausted_task_fails_and_is_told(harness: WorkerHarness) -> None:
    harness.add_task(
        state=TaskState.PROCESSING, attempt=3, fence=5, owner="dead", last_error="out of memory"
    )

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "exhausted")
    assert "out of memory" in (outcome.error or "")
    assert harness.emitted == ["Task Failed"]


def test_a_flagged_task_that_nobody_runs_is_cancelled(harness: WorkerHarness) -> None:
    harness.add_task(cancel_requested=True)

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.CANCELLED
    assert harness.emitted == ["Task Cancelled"]


def test_a_settled_task_is_told_again_exactly_as_before(harness: WorkerHarness) -> None:
    ref = harness.add_task(given={"x": 1})
    harness.work(until=harness.quiet)

    harness.memory.queue.send([TaskMessage.to(ref, run=1)])
    harness.work(until=harness.quiet)

    *_, first, second = harness.memory.bus.events
    assert harness.emitted == ["Task Processing Started", "Task Completed", "Task Completed"]
    assert second.detail() == first.detail()


def test_a_worker_that_is_handed_a_message_twice_runs_its_task_once(harness: WorkerHarness) -> None:
    ref = harness.add_task(given={"offline": {"delayMs": 1_000}})
    harness.memory.queue.send([TaskMessage.to(ref, run=1)])

    harness.work(until=harness.quiet)

    assert harness.emitted == ["Task Processing Started", "Task Completed"]


def test_a_bug_that_every_message_meets_ends_the_worker(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.memory.leases, "claim", lambda: None)  # called with arguments
    for number in range(MOST_IN_A_ROW):
        harness.add_task(f"t{number}")

    with pytest.raises(Unhealthy) as ended:
        harness.work(until=harness.quiet)

    assert isinstance(ended.value.__cause__, TypeError)
    assert harness.memory.queue.waiting == MOST_IN_A_ROW


def test_a_message_stays_until_the_bus_took_the_event(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[int] = []
    accept = harness.memory.bus.put

    def refuse_first(events: list[object]) -> None:
        if not refused and any("Completed" in str(event) for event in events):
            refused.append(harness.memory.queue.waiting)
            raise Unavailable("the bus is down")
        accept(events)  # type: ignore[arg-type]

    monkeypatch.setattr(harness.memory.bus, "put", refuse_first)
    harness.add_task()

    harness.work(until=harness.quiet)

    assert refused == [1]
    assert harness.emitted[-1] == "Task Completed"


def test_a_settled_task_whose_output_has_expired_is_told_without_it(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = harness.add_task()
    harness.work(until=harness.quiet)
    monkeypatch.setattr(harness.memory.payloads, "read", raising(MissingBlob("its result")))

    harness.memory.queue.send([TaskMessage.to(ref, run=1)])
    harness.work(until=harness.quiet)

    assert harness.emitted == ["Task Processing Started", "Task Completed", "Task Completed"]


def test_a_message_that_cannot_be_answered_does_not_end_the_worker(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = harness.add_task()
    harness.work(until=harness.quiet)
    asked: list[object] = []
    reading = raising(Rejected("not to be had"), asked)
    monkeypatch.setattr(harness.memory.payloads, "read", reading)

    harness.memory.queue.send([TaskMessage.to(ref, run=1)])
    harness.work(until=lambda: bool(asked))

    assert harness.memory.queue.waiting == 1


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


def test_the_named_task_is_run_under_the_same_message_after_a_better_one(
    harness: WorkerHarness,
) -> None:
    key: dict[str, Any] = dict(ready_key(a_task(priority="high"), 1))
    harness.add_task("better", priority="high", **key)
    for message in harness.memory.queue.receive(at_most=1, wait_seconds=0, visibility_seconds=60):
        harness.memory.queue.delete(message)
    harness.memory.clocks.mark("default", TENANT, now_ms=1)
    harness.inbox = inbox = Watched(harness)
    harness.add_task("named")

    harness.work(until=harness.quiet)

    assert [harness.task(name).state for name in ("better", "named")] == [TaskState.COMPLETED] * 2
    assert (harness.task("better").started_at_ms or 0) <= (harness.task("named").started_at_ms or 0)
    assert len({message.message_id for message in inbox.received}) == 1
