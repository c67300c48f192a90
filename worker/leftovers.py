"""Removes the task folders that an earlier worker left, as one that was killed does.

Workers that share a folder hold a shared lock on a file in it, which the system releases when a
worker ends, however it does. One that gets the lock for itself alone knows at its start that no
live worker owns any task folder there.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.domain.ids import REQUEST_ID
from switchyard.observability import get_logger
from switchyard.ports import Clock, Sleep
from worker.folder import remove_older
from worker.removal import MAX_SECONDS, SECONDS_BETWEEN_TRIES
from worker.trees import NotRemoved

logger = get_logger("worker")

LOCK_FILE: Final = ".workers"
MOVED_TO: Final = ".leftovers"
MAX_FOLDERS: Final = 10_000
"""How many a start moves at most; a later start moves the rest."""
PASSABLE: Final = 0o711
"""Task folders are removed with the rights of their users, who have to reach them."""


@dataclass(slots=True, kw_only=True)
class Leftovers:
    output_folder: Path
    clock: Clock
    sleep: Sleep
    offload: Offload
    left: list[Path] = field(default_factory=list)
    """Folders that are not removed yet."""
    _lock: int | None = None

    async def move(self) -> None:
        """Move them where no attempt makes a folder, before the first attempt does."""
        try:
            await self.offload(self._move)
        except OSError as problem:
            logger.error("leftovers cannot be looked for", extra={"error": str(problem)})

    async def remove(self) -> None:
        """Remove what was moved, one after the other, and again what could not be removed."""
        if self.left:
            logger.info("an earlier worker left folders", extra={"folders": len(self.left)})
        while self.left:
            for folder in tuple(self.left):
                await self._remove(folder)
            if self.left:
                await self.sleep(SECONDS_BETWEEN_TRIES)

    async def _remove(self, folder: Path) -> None:
        ends_at = self.clock.monotonic() + MAX_SECONDS
        try:
            await self.offload(self._removed, folder, ends_at)
        except (NotRemoved, OSError) as problem:
            fields = {"error": str(problem), "folders_left": len(self.left)}
            logger.error("files of an earlier worker could not be removed yet", extra=fields)
        else:
            self.left.remove(folder)

    def _removed(self, folder: Path, ends_at: float) -> None:
        for attempt in _folders_in(folder):
            remove_older(attempt, ends_at=ends_at, monotonic=self.clock.monotonic)
        folder.rmdir()

    def _move(self) -> None:
        self.output_folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(
            self.output_folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        with contextlib.suppress(BlockingIOError):  # then another worker lives here
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.left = self._moved()
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def _moved(self) -> list[Path]:
        place = self.output_folder.absolute() / MOVED_TO
        found = [folder for folder in _folders_in(place.parent) if _is_of_attempts(folder)]
        earlier = list(_folders_in(place))
        if found:
            place.mkdir(exist_ok=True)
            place.chmod(PASSABLE)
        numbers = (int(folder.name) for folder in earlier if folder.name.isdigit())
        for number, folder in enumerate(found, start=max(numbers, default=0) + 1):
            with contextlib.suppress(OSError):  # not this worker's: it stays where it is
                earlier.append(folder.rename(place / str(number)))
        return earlier

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


def _folders_in(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in islice(entries, MAX_FOLDERS):
            if entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def _is_of_attempts(folder: Path) -> bool:
    """Whether it is named after a request and holds nothing but folders named after fences.

    A task that was run by hand has its files right there, and keeps them.
    """
    if not REQUEST_ID.fullmatch(folder.name):
        return False
    with os.scandir(folder) as entries:
        return all(
            entry.name.isdigit() and entry.is_dir(follow_symlinks=False)
            for entry in islice(entries, MAX_FOLDERS)
        )
