"""A worker process whose machine lacks something, beside a healthy one: no task pays for it."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from benchmarks.harness import BenchHarness
from switchyard.domain.states import TaskState
from tests.contract.clouds import on_ministack
from tests.worker.clock_stage import ClockStage, SkewedWorker, all_settled, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")

TASKS = 24
TASK_SECONDS = 0.1
DISK_MB = 64
"""More than a healthy worker wants to be free."""
SICK = "machine is sick: no more tasks are taken"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[ClockStage]:
    with on_ministack(tmp_path / "cloud") as cloud:
        stage = ClockStage(BenchHarness(cloud), tmp_path)
        try:
            yield stage
        finally:
            stage.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own for one worker, which only root can make."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    while folder.is_mount():
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(worker: SkewedWorker) -> None:
    with (worker.output_folder / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(bytes(2**16)):
                pass
        except OSError:
            return


def make_read_only(worker: SkewedWorker) -> None:
    """Put another disk in its place: not every kernel lets root change the one that is there."""
    command = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(worker.output_folder)]
    subprocess.run(command, check=True)


def take_descriptors(worker: SkewedWorker) -> None:
    """Leave two: enough for a request, and not for a child."""
    pid = worker.process.pid
    most = max(int(fd.name) for fd in Path(f"/proc/{pid}/fd").iterdir()) + 3
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))


def take_memory(worker: SkewedWorker) -> None:
    """Leave no room for another thread's stack."""
    pid = worker.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
    used = psutil.Process(pid).memory_info().vms
    resource.prlimit(pid, resource.RLIMIT_AS, (used + 2**20, hard))


@pytest.mark.slow
@pytest.mark.parametrize(
    "fall_ill", [fill, make_read_only, take_descriptors, take_memory], ids=lambda f: f.__name__
)
def test_a_sick_worker_fails_no_task_takes_no_more_and_says_so(
    fall_ill: Callable[[SkewedWorker], None], stage: ClockStage, disk: Path
) -> None:
    sick = stage.start(task_seconds=TASK_SECONDS, output_folder=disk)
    sick.wait_until_started()
    fall_ill(sick)
    stage.harness.submit(TASKS, max_attempts=1)
    healthy = stage.start(task_seconds=TASK_SECONDS)

    stage.until(all_settled, meanwhile=stage.sweep)

    tasks = stage.harness.tasks()
    assert {(task.state, task.attempt) for task in tasks} == {(TaskState.COMPLETED, 1)}, stage.story
    assert SICK in sick.log, stage.story
    assert SICK not in healthy.log
    wait_until(lambda: sick.health_check() == 1)  # the pulse is removed at its next beat
    wait_until(lambda: stage.workers_that_say_they_are_sick() == 1)
    assert healthy.health_check() == 0
