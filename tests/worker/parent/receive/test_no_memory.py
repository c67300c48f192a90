"""A worker without memory or threads: it neither ends nor forgets what it holds."""

import asyncio
import errno
from collections.abc import Sequence
from typing import Any

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Lease, Outcome, Task
from switchyard.ports import Received
from switchyard.testing.leases import MemoryTaskLeases
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.health import machine
from switchyard_worker.parent.health.machine import MOST_IN_A_ROW
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import LoopHarness, RecordedInbox, run, until

TROUBLE = [MemoryError(), RuntimeError("can't start new thread")]


class TroubledInbox(RecordedInbox):
    def __init__(self, harness: WorkerHarness, problem: Exception, *, times: int) -> None:
        super().__init__(harness)
        self._problems = [problem] * times

    def receive(self, **options: Any) -> Sequence[Received]:
        if self._problems:
            raise self._problems.pop()
        return super().receive(**options)


class TroubledLeases(MemoryTaskLeases):
    def __init__(self, harness: WorkerHarness, *, times: int) -> None:
        super().__init__(harness.memory.state)
        self.left = times

    def settle(
        self, lease: Lease, outcome: Outcome, *, output: Json, now_ms: int, **more: Any
    ) -> Task:
        self.left -= 1
        if self.left >= 0:
            raise MemoryError
        return super().settle(lease, outcome, output=output, now_ms=now_ms, **more)


@pytest.mark.parametrize("problem", TROUBLE, ids=repr)
def test_a_receive_without_memory_is_trouble_of_the_machine_and_made_again(
    harness: WorkerHarness, problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, TroubledInbox(harness, problem, times=MOST_IN_A_ROW - 1))
        one.send(1)
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running

    run(story())

    assert caplog.messages.count("machine is in trouble") == MOST_IN_A_ROW - 1


def test_a_machine_that_cannot_receive_is_sick_and_the_worker_stays(
    harness: WorkerHarness,
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, TroubledInbox(harness, MemoryError(), times=1_000))
        loop = one.loop()
        running = asyncio.create_task(loop.run())
        await until(lambda: one.machine.sick is not None)
        assert not running.done()
        assert loop.intake.changed.is_set()  # so that its presence is written at once
        one.stop.ask()
        await running

    run(story())


def test_a_task_that_cannot_be_settled_for_lack_of_memory_is_settled_a_little_later(
    harness: WorkerHarness,
) -> None:
    harness.configure(visibility_extension_amount=60)
    harness.leases = leases = TroubledLeases(harness, times=1)
    harness.add_task()

    harness.work(until=harness.quiet)

    assert (harness.task().state, harness.task().fence) == (TaskState.COMPLETED, 1)
    assert leases.left == -1


def test_a_task_is_not_charged_where_even_the_report_of_the_trouble_fails(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_folder(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    def no_report(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(TaskFolder, "fresh", no_folder)
    monkeypatch.setattr(machine.logger, "error", no_report)
    harness.add_task(max_attempts=1)

    harness.work(until=lambda: "Task Released" in harness.emitted)

    assert (harness.task().state, harness.task().attempt) == (TaskState.QUEUED, 0)


def test_a_task_that_cannot_be_settled_until_its_lease_ends_comes_again(
    harness: WorkerHarness,
) -> None:
    harness.configure(visibility_extension_amount=1, visibility_extension_interval=100)
    harness.leases = TroubledLeases(harness, times=2)
    harness.add_task()

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert harness.task().fence >= 2
