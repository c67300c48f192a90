"""Counts of what a task's processes use, and counts that do not finish."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from switchyard.adapters.system import SystemClock, ThreadOffload, system_sleep
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.trees import DiskUsage
from switchyard_worker.parent.files.users import SlotUser
from switchyard_worker.parent.supervision.quota import MOST_UNFINISHED, Quota
from switchyard_worker.parent.supervision.user_processes import use_of
from tests.worker.task_users import task_users

MEGABYTE = 1024 * 1024
EACH_MB = 16
HOLD = f'x=$(head -c {EACH_MB * MEGABYTE} /dev/zero | tr "\\0" x); echo held; read end'

as_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can start another's process"
)


def a_quota(**facts: Any) -> Quota:
    usual: dict[str, Any] = {
        "memory_mb": 0,
        "megabytes": 1_000,
        "files": 1_000,
        "processes": 100,
        "clock": SystemClock(),
        "sleep": system_sleep,
        "offload": ThreadOffload(threads=2),
    }
    return Quota(**usual | facts)


@pytest.fixture
def user() -> SlotUser:
    return SlotUser(task_users(1)[0])


@pytest.fixture
def three_processes(user: SlotUser) -> Iterator[None]:
    """Three processes of one user that hold memory, none of them much."""
    holding = [
        subprocess.Popen(
            ["/bin/sh", "-c", HOLD],
            user=user.id,
            group=user.id,
            extra_groups=[],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for process in holding:
        assert process.stdout
        process.stdout.readline()
    yield
    for process in holding:
        process.communicate(b"end\n")


@as_root
@pytest.mark.usefixtures("three_processes")
def test_the_memory_of_all_processes_of_a_user_is_counted(user: SlotUser) -> None:
    assert (
        3 * EACH_MB * MEGABYTE <= use_of(user.id, most_threads=100).memory < 9 * EACH_MB * MEGABYTE
    )
    assert use_of(user.id + 1, most_threads=100).memory == 0


@as_root
@pytest.mark.usefixtures("three_processes")
def test_a_task_whose_processes_together_use_too_much_memory_exceeds_its_quota(
    user: SlotUser, tmp_path: Path
) -> None:
    async def exceeded() -> str:
        folder = TaskFolder(tmp_path, os.open(tmp_path, os.O_RDONLY), user)
        try:
            return await asyncio.wait_for(a_quota(memory_mb=2 * EACH_MB).exceeded(folder), 30)
        finally:
            folder.close()

    limit = 2 * EACH_MB
    expected = f"the task used more than {limit} MB of memory (CHILD_TASK_MEMORY_MB)"
    assert asyncio.run(exceeded()) == expected


class SlowFolder:
    """A folder of a task without a user; its files are counted in time only where a test says."""

    user = None

    def __init__(self, *in_time: bool) -> None:
        self._in_time = list(in_time)
        self.counts = 0

    def usage(self, _bounds: object) -> DiskUsage:
        self.counts += 1
        return DiskUsage(exceeded=None if self._in_time.pop(0) else "time")


def test_a_task_whose_files_cannot_be_counted_in_time_again_and_again_exceeds_its_quota() -> None:
    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    slow = [False] * (MOST_UNFINISHED - 1)
    folder = SlowFolder(*slow, True, *slow, False)

    problem = asyncio.run(a_quota(sleep=no_pause).exceeded(cast("TaskFolder", folder)))

    assert problem == "the task's files could not be counted within 10 s"
    assert folder.counts == 2 * MOST_UNFINISHED
