"""A worker is killed while its child runs: the child is gone before its successor starts."""

import sys

import psutil
import pytest

from switchyard.adapters.system import SystemClock
from switchyard.domain.states import TaskState
from tests.worker.clock_stage import PATIENCE_SECONDS, ClockStage, all_are

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")

SHORT_LEASE_SECONDS = 6.0
LONG_TASK_SECONDS = 60.0
clock = SystemClock()


def children_of(pid: int) -> list[psutil.Process]:
    below = psutil.Process(pid).children(recursive=True)
    return [process for process in below if "switchyard_worker.child" in process.cmdline()]


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def children_once_started(pid: int) -> list[psutil.Process]:
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while not (found := children_of(pid)):
        assert clock.monotonic() < deadline, "no child was started"
        clock.sleep(0.05)
    return found


def test_what_a_killed_worker_ran_is_gone_before_its_successor_starts(stage: ClockStage) -> None:
    """The worker alone is killed, by a signal that it cannot notice."""
    killed = stage.start(task_seconds=LONG_TASK_SECONDS, lease_seconds=SHORT_LEASE_SECONDS)
    stage.harness.submit(1)
    stage.until(all_are(TaskState.PROCESSING))
    orphans = children_once_started(killed.pid)
    successor = stage.start(task_seconds=LONG_TASK_SECONDS, lease_seconds=SHORT_LEASE_SECONDS)
    successor.wait_until_started()

    killed.process.kill()
    began = clock.monotonic()
    while alive(orphans):
        assert [task.fence for task in stage.harness.tasks()] == [1], "the successor runs beside it"
        assert clock.monotonic() - began < SHORT_LEASE_SECONDS, "an orphan outlived the lease"
        clock.sleep(0.05)

    stage.until(lambda tasks: tasks[0].fence == 2, meanwhile=stage.sweep)
    assert alive(orphans) == []
