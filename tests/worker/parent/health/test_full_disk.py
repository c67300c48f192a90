"""A worker on a small disk that is full, or is being filled by a child."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.domain.states import TaskState
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes, which only root can make."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder],
        check=False,
        stderr=subprocess.DEVNULL,
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


PRINTS_UNTIL_FULL = """
    import json, sys
    folder = sys.argv[-1]
    with open(f"{folder}/tmp/filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)): pass
        except OSError:
            pass
    for number in range(5_000):
        print(f"line {number} of what a child prints while its disk is full", flush=True)
    sys.exit(1)
"""


def test_a_disk_that_fills_while_a_child_prints_ends_no_worker(
    harness: WorkerHarness, small_disk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_BYTES", 1024 * 1024)
    let_children_run(PRINTS_UNTIL_FULL, tmp_path, monkeypatch)
    harness.configure(output_folder=small_disk, delete_files_after_upload=True)
    harness.add_task("a", max_attempts=1)

    harness.work(until=harness.settled, seconds=60)

    assert harness.task("a").state is TaskState.FAILED
    assert not list(small_disk.glob("job-*"))


def test_a_worker_on_a_full_disk_takes_no_task_until_there_is_room(
    harness: WorkerHarness, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_BYTES", 1024 * 1024)
    monkeypatch.setattr("switchyard_worker.parent.health.machine.SECONDS_BETWEEN_PROBES", 0.2)
    monkeypatch.setattr("switchyard_worker.parent.receive.loop.HOLD_SECONDS", 0.1)
    full = small_disk / "full"
    full.write_bytes(bytes(2 * 1024 * 1024))
    harness.configure(output_folder=small_disk)
    for number in range(5):
        harness.add_task(f"t{number}", max_attempts=1)
    taken: list[int] = []

    def make_room() -> bool:
        taken.append(sum(task.fence for task in harness.memory.state.tasks.values()))
        if len(taken) == 50:
            full.unlink()
        return harness.settled()

    harness.work(until=make_room, seconds=60)

    assert taken[:50] == [0] * 50
    assert {task.state for task in harness.memory.state.tasks.values()} == {TaskState.COMPLETED}
