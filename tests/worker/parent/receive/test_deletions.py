"""Wake-ups that nothing has to be done for: deleted in batches, without a slot."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.ports import Seen
from switchyard.testing.leases import MemoryTaskLeases
from tests.builders import JOB, a_task
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import LoopHarness, RecordedInbox, run, until

FLOOD = 60


class CountedLooks(MemoryTaskLeases):
    """Leases, with every look at tasks counted."""

    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness.memory.state)
        self.looks: list[int] = []
        self.outage: Unavailable | None = None

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        self.looks.append(len(refs))
        if self.outage:
            raise self.outage
        return super().look_at(refs)


def put_tasks(harness: WorkerHarness, count: int, **facts: Any) -> None:
    """Store the tasks that `LoopHarness.send` wakes."""
    for number in range(len(harness.memory.state.tasks), len(harness.memory.state.tasks) + count):
        task = a_task(f"t{number}", **{"state": TaskState.CANCELLED, "due_at_ms": None} | facts)
        harness.memory.state.tasks[task.ref] = task


def test_where_nothing_was_refused_nobody_looks_at_tasks(harness: WorkerHarness) -> None:
    async def story() -> None:
        looks = harness.leases = CountedLooks(harness)
        one = LoopHarness(harness, RecordedInbox(harness))
        put_tasks(harness, 5)
        one.send(5)
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert (looks.looks, len(one.handling)) == ([], 5)

    run(story())


def test_needless_wake_ups_are_deleted_in_whole_batches_though_one_slot_is_free(
    harness: WorkerHarness,
) -> None:
    async def story() -> None:
        looks = harness.leases = CountedLooks(harness)
        one = LoopHarness(harness, RecordedInbox(harness))
        put_tasks(harness, FLOOD)
        put_tasks(harness, 1, state=TaskState.QUEUED)
        one.send(FLOOD + 1)
        one.screening.note_refused()
        one.finish.set()
        running = asyncio.create_task(one.loop(slots=1).run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert one.handling == [f"message-{FLOOD + 1}"]
        assert set(one.inbox.asked[:10]) == {1}  # until it is sure that they are many
        assert set(one.inbox.asked[10:15]) == {10}
        assert len(looks.looks) == 16

    run(story())


def test_what_came_with_the_last_needless_ones_and_finds_no_slot_is_let_go_at_once(
    harness: WorkerHarness,
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        put_tasks(harness, 15)
        put_tasks(harness, 4, state=TaskState.QUEUED)
        one.send(19)
        one.screening.note_refused()
        running = asyncio.create_task(one.loop(slots=1).run())
        await until(lambda: (len(one.inbox.let_go), len(one.handling)) == (3, 1))
        one.finish.set()
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert len(one.handling) == 4
        assert one.inbox.asked.count(10) == 1

    run(story())


def test_tasks_that_cannot_be_looked_at_are_handled_as_ever(harness: WorkerHarness) -> None:
    async def story() -> None:
        looks = harness.leases = CountedLooks(harness)
        looks.outage = Unavailable("no table")
        one = LoopHarness(harness, RecordedInbox(harness))
        put_tasks(harness, 2)
        one.send(2)
        one.screening.note_refused()
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert len(one.handling) == 2

    run(story())


def test_a_worker_runs_what_is_left_behind_many_cancelled_tasks(harness: WorkerHarness) -> None:
    looks = harness.leases = CountedLooks(harness)
    for number in range(FLOOD):
        harness.add_task(f"t{number}", state=TaskState.CANCELLED, settled_at_ms=1)
    harness.add_task("last")
    harness.configure(max_concurrent_claude=1)

    harness.work(until=harness.quiet)

    assert harness.task("last").state is TaskState.COMPLETED
    assert (
        harness.emitted.count("Task Cancelled") == 1
    )  # of the one that showed that there may be more
    assert 0 < len(looks.looks) < FLOOD / 3


def test_a_wake_up_for_a_later_run_is_not_needless(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        ref = JOB.task("t0")
        harness.memory.state.tasks[ref] = replace(a_task("t0"), state=TaskState.CANCELLED, run=0)
        one.send(1)
        one.screening.note_refused()
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert len(one.handling) == 1

    run(story())
