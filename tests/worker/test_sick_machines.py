"""Workers whose machines lack something, beside a healthy one: no task pays for it."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from switchyard.domain.states import TaskState
from switchyard_worker.parent.health.machine import MOST_IN_A_ROW
from tests.worker.clock_stage import ClockStage, SkewedWorker, all_settled, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")

TASKS = 16
"""A few more than make all of them sick."""
TASK_SECONDS = 0.1
DISK_MB = 64
"""More than a healthy worker wants to be free."""
SWEEP_SECONDS = 2.0
SICK = "machine is sick: no more tasks are taken"


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[list[Path]]:
    """A disk of its own for each sick worker, which only root can make."""
    folders = [tmp_path / f"disk-{disease.__name__}" for disease in DISEASES]
    for folder in folders:
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
        if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("only root can mount a small disk")
    yield folders
    for folder in folders:
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
    pid = worker.pid
    most = max(int(fd.name) for fd in Path(f"/proc/{pid}/fd").iterdir()) + 3
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))


def take_memory(worker: SkewedWorker) -> None:
    """Leave no room for another thread's stack."""
    pid = worker.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
    used = psutil.Process(pid).memory_info().vms
    resource.prlimit(pid, resource.RLIMIT_AS, (used + 2**20, hard))


DISEASES = (fill, make_read_only, take_descriptors, take_memory)


@pytest.mark.slow
def test_sick_workers_fail_no_task_take_no_more_and_say_so(
    stage: ClockStage, disks: list[Path]
) -> None:
    sick = [
        stage.start(task_seconds=TASK_SECONDS, output_folder=disk, slots=MOST_IN_A_ROW)
        for disk in disks
    ]
    for worker, fall_ill in zip(sick, DISEASES, strict=True):
        worker.wait_until_started()
        fall_ill(worker)
    stage.harness.submit(TASKS, max_attempts=1)
    wait_until(lambda: all(SICK in worker.log for worker in sick))
    healthy = stage.start(task_seconds=TASK_SECONDS)

    stage.until(all_settled, meanwhile=stage.sweep, every_seconds=SWEEP_SECONDS)

    tasks = stage.harness.tasks()
    assert {(task.state, task.attempt) for task in tasks} == {(TaskState.COMPLETED, 1)}, stage.story
    assert any(task.fence > task.attempt for task in tasks)  # a sick one has given it back
    assert SICK not in healthy.log
    for worker in sick:
        wait_until(lambda worker=worker: worker.health_check() == 1)  # type: ignore[misc]
    wait_until(lambda: stage.workers_that_say_they_are_sick() == len(sick))
    assert healthy.health_check() == 0
