"""Removes the files that tasks leave; those that cannot be removed are tried again."""

import contextlib
import fcntl
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.contracts.worker_log import FILES_LEFT
from switchyard.domain.ids import REQUEST_ID
from switchyard.observability import get_logger
from switchyard.ports import Clock, Sleep
from switchyard_worker.parent.files.folder import TaskFolder, remove_older
from switchyard_worker.parent.files.trees import NotRemoved
from switchyard_worker.parent.files.users import SlotUser, SlotUsers

logger = get_logger("worker")

MAX_SECONDS: Final = 20.0
SECONDS_BETWEEN_TRIES: Final = 30.0


class Removals:
    """Removes folders; a user is used again only once none of its processes and files is left."""

    def __init__(
        self,
        *,
        users: SlotUsers,
        is_ended: Callable[[SlotUser], Awaitable[bool]],
        clock: Clock,
        sleep: Sleep,
        offload: Offload,
    ) -> None:
        self.left: list[TaskFolder] = []
        """Folders that could not be removed yet."""
        self._users = users
        self._is_ended = is_ended
        self._clock = clock
        self._sleep = sleep
        self._offload = offload

    async def remove(self, folder: TaskFolder) -> None:
        """Remove a folder within a bound of time, off the event loop."""
        if not await self._removed(folder):
            self.left.append(folder)

    async def keep(self) -> None:
        """Try again, until cancelled, what could not be removed."""
        while True:
            await self._sleep(SECONDS_BETWEEN_TRIES)
            for folder in tuple(self.left):
                if await self._removed(folder):
                    self.left.remove(folder)

    async def _removed(self, folder: TaskFolder) -> bool:
        if folder.user and not await self._is_ended(folder.user):
            return False
        try:
            elsewhere = await self._offload(
                folder.remove, seconds=MAX_SECONDS, monotonic=self._clock.monotonic
            )
        except NotRemoved as problem:
            fields = {
                "folder": str(folder.path),
                "error": str(problem),
                "folders_left": len({*self.left, folder}),
            }
            logger.error(FILES_LEFT, extra=fields)
            return False
        if elsewhere:
            fields = {"folder": str(folder.path), "entries": elsewhere}
            logger.warning("task left files outside its folder, which are removed", extra=fields)
        folder.close()
        self._users.give_back(folder.user)
        return True


LOCK_FILE: Final = ".workers"
MOVED_TO: Final = ".leftovers"
MAX_FOLDERS: Final = 10_000
"""The most folders that a start moves; a later start moves the rest."""
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
        """Move leftovers where no attempt makes a folder, before the first attempt does."""
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
    """Return whether a folder is named after a request and has only folders of fences.

    A task that `switchyard_worker.task` ran without a worker leaves its files in place.
    """
    if not all(map(REQUEST_ID.fullmatch, folder.name.split("."))):
        return False
    with os.scandir(folder) as entries:
        return all(
            entry.name.isdigit() and entry.is_dir(follow_symlinks=False)
            for entry in islice(entries, MAX_FOLDERS)
        )
