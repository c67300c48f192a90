"""Counts what a task uses of disk, memory and processes while it runs."""

import asyncio
import stat
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Final, NoReturn

from switchyard.bootstrap import Offload
from switchyard.ports import Clock, Sleep
from switchyard_worker.parent.coroutines import first_of
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.trees import BLOCK_BYTES, MAX_DEPTH, Bounds, DiskUsage
from switchyard_worker.parent.files.users import SlotUser, files_as
from switchyard_worker.parent.supervision.user_processes import (
    ProcessUse,
    open_files_of,
    processes_of,
    use_of,
)

MEGABYTE: Final = 1024 * 1024
SECONDS_BETWEEN_COUNTS: Final = 2.0
SECONDS_BETWEEN_LOOKS_AT_PROCESSES: Final = 0.5
MOST_SECONDS_BETWEEN_LOOKS_AT_PROCESSES: Final = 2.0
"""A fork bomb slows down everything until it is found, the looks at it included."""
MAX_COUNT_SECONDS: Final = 10.0
MOST_UNFINISHED: Final = 3
"""A task whose files cannot be counted in time so often in a row is ended."""
REST: Final = 10
"""The ratio of the pause after a count to the time that the count took, at least."""


MOST_HIDDEN: Final = 2
"""A program that is just being started looks, once, as if it hid what it holds open."""


@dataclass(frozen=True, slots=True)
class Count:
    used: DiskUsage
    problem: str | None = None
    """A sentence about what is exceeded."""
    hidden: bool = False
    """Whether a process hides what it holds open."""


async def _for_ever() -> NoReturn:
    while True:
        await asyncio.Event().wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    memory_mb: int
    """The memory of all processes of a task that has a user of its own; 0 for no limit."""
    megabytes: int
    files: int
    processes: int
    """The processes, threads among them; counted only where the task has a user of its own."""
    clock: Clock
    sleep: Sleep
    offload: Offload

    async def exceeded(self, folder: TaskFolder) -> str:
        """Wait until the task exceeds its quota, and return a sentence about it."""
        disk = asyncio.ensure_future(self._disk_exceeded(folder))
        processes = asyncio.ensure_future(self._processes_exceeded(folder))
        ended = await first_of({disk: disk, processes: processes})
        return ended.result()

    async def _processes_exceeded(self, folder: TaskFolder) -> str:
        if not folder.user:
            await _for_ever()
        problem, pause = None, SECONDS_BETWEEN_LOOKS_AT_PROCESSES
        while problem is None:
            await self.sleep(pause)
            began = self.clock.monotonic()
            use = partial(use_of, folder.user.id, most_threads=self.processes)
            problem = self.judge_processes(await self.offload(use))
            rest = self._pause_after(began, at_least=SECONDS_BETWEEN_LOOKS_AT_PROCESSES)
            pause = min(rest, MOST_SECONDS_BETWEEN_LOOKS_AT_PROCESSES)
        return problem

    async def _disk_exceeded(self, folder: TaskFolder) -> str:
        pause, hidden, unfinished = SECONDS_BETWEEN_COUNTS, 0, 0
        while True:
            await self.sleep(pause)
            began = self.clock.monotonic()
            found = await self.offload(self._count, folder, began)
            if found.problem:
                return found.problem
            hidden = hidden + 1 if found.hidden else 0
            if hidden == MOST_HIDDEN:
                return "a process of the task hides which files it holds open"
            unfinished = unfinished + 1 if found.used.exceeded == "time" else 0
            if unfinished == MOST_UNFINISHED:
                return f"the task's files could not be counted within {MAX_COUNT_SECONDS:g} s"
            pause = self._pause_after(began, at_least=SECONDS_BETWEEN_COUNTS)

    def _pause_after(self, began: float, *, at_least: float) -> float:
        return max(at_least, REST * (self.clock.monotonic() - began))

    def _count(self, folder: TaskFolder, now: float) -> Count:
        used, hidden = folder.usage(self._bounds(now)), False
        if folder.user:
            held, hidden = held_without_names(folder.user, self._bounds(now))
            used += held
        return Count(used, self.judge(used), hidden)

    def _bounds(self, now: float) -> Bounds:
        return Bounds(
            entries=self.files + 1,
            ends_at=now + MAX_COUNT_SECONDS,
            monotonic=self.clock.monotonic,
        )

    def judge_processes(self, use: ProcessUse) -> str | None:
        """Return a sentence about what the processes of a task use too much of, if they do."""
        if use.threads > self.processes:
            return f"the task ran more than {self.processes} processes and threads at once"
        if self.memory_mb and use.memory > self.memory_mb * MEGABYTE:
            return f"the task used more than {self.memory_mb} MB of memory (CHILD_TASK_MEMORY_MB)"
        return None

    def judge(self, used: DiskUsage) -> str | None:
        """Return a sentence about what a task uses too much of the disk, if it does."""
        if used.bytes > self.megabytes * MEGABYTE:
            return f"the task used more than {self.megabytes} MB of disk (CHILD_DISK_MB)"
        if used.files > self.files or used.exceeded == "entries":
            return f"the task made more than {self.files} files and folders (CHILD_MAX_FILES)"
        if used.exceeded == "depth":
            return f"the task nested folders more than {MAX_DEPTH} deep (no setting changes that)"
        return None


def held_without_names(user: SlotUser, bounds: Bounds) -> tuple[DiskUsage, bool]:
    """Count files that a user's processes hold open and that have no name, as deleted ones.

    Return also whether a process hides its open files from its own user, and so from the worker.
    """
    blocks: dict[tuple[int, int], int] = {}
    hidden = False
    with files_as(user):
        for pid in processes_of(user.id):
            try:
                for status in takewhile(lambda _: bounds.take(), open_files_of(pid)):
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        blocks[status.st_dev, status.st_ino] = status.st_blocks
            except PermissionError:
                hidden = True
    used = sum(blocks.values()) * BLOCK_BYTES
    return DiskUsage(bytes=used, files=len(blocks), exceeded=bounds.exceeded), hidden
