"""Counts what a task uses of the disk and of the system's processes while it runs."""

from dataclasses import dataclass
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.ports import Clock, Sleep
from worker.parent.files.folder import TaskFolder
from worker.parent.files.trees import MAX_DEPTH, Bounds, Usage
from worker.parent.supervision.descendants import threads_of

MEGABYTE: Final = 1024 * 1024
SECONDS_BETWEEN_COUNTS: Final = 2.0
MAX_COUNT_SECONDS: Final = 10.0
REST: Final = 10
"""How many times longer than a count took the pause after it is at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    megabytes: int
    files: int
    processes: int
    """Threads among them; counted only where the task has a user of its own."""
    clock: Clock
    sleep: Sleep
    offload: Offload

    async def exceeded(self, folder: TaskFolder) -> str:
        """Wait until the task exceeds its quota, and return a sentence about it."""
        pause = SECONDS_BETWEEN_COUNTS
        while True:
            await self.sleep(pause)
            began = self.clock.monotonic()
            problem = await self.offload(self._problem, folder, began)
            if problem:
                return problem
            pause = max(SECONDS_BETWEEN_COUNTS, REST * (self.clock.monotonic() - began))

    def _problem(self, folder: TaskFolder, now: float) -> str | None:
        """Look for a fork bomb first: it slows down everything else, counting files included."""
        if folder.user and threads_of(folder.user.id, most=self.processes) > self.processes:
            return f"the task ran more than {self.processes} processes and threads at once"
        return self.judge(folder.usage(self._bounds(now)))

    def _bounds(self, now: float) -> Bounds:
        return Bounds(
            entries=self.files + 1,
            ends_at=now + MAX_COUNT_SECONDS,
            monotonic=self.clock.monotonic,
        )

    def judge(self, used: Usage) -> str | None:
        """Return a sentence about what a task uses too much of, if it does."""
        if used.bytes > self.megabytes * MEGABYTE:
            return f"the task used more than {self.megabytes} MB of disk (CHILD_DISK_MB)"
        if used.files > self.files or used.exceeded == "entries":
            return f"the task made more than {self.files} files and folders (CHILD_MAX_FILES)"
        if used.exceeded == "depth":
            return f"the task nested folders more than {MAX_DEPTH} deep (no setting changes that)"
        return None
