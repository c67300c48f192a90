"""Walks, measures and removes a tree of files that an agent made, whatever it looks like.

Everything goes by descriptors and without recursion: no link is followed, no name is resolved
twice, and neither a deep nor a wide tree exceeds a limit of the interpreter.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from switchyard_worker.parent.files.confined import FOLDER_FLAGS, open_beneath
from switchyard_worker.parent.files.users import NotAllowed, SlotUser, files_as

MAX_DEPTH: Final = 100
"""The deepest level of a walk: each level holds one descriptor."""
BLOCK_BYTES: Final = 512  # the unit of st_blocks, whatever the file system's is
BATCH: Final = 1_000

Clock = Callable[[], float]


@dataclass(slots=True, kw_only=True)
class Bounds:
    """Limits of a walk; `exceeded` names the one that was exceeded."""

    entries: int
    ends_at: float
    monotonic: Clock
    depth: int = MAX_DEPTH
    exceeded: str | None = None

    def take(self) -> bool:
        """Return whether one more entry may be looked at."""
        self.entries -= 1
        if self.entries < 0:
            self.exceeded = "entries"
        elif self.monotonic() > self.ends_at:
            self.exceeded = "time"
        return self.exceeded in {None, "depth"}


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """The path relative to where the walk began."""
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)


@dataclass(frozen=True, slots=True)
class _Level:
    descriptor: int
    prefix: str
    entries: Iterator[os.DirEntry[str]]

    @classmethod
    def of(cls, descriptor: int, prefix: str, bounds: Bounds) -> "_Level":
        try:
            return cls(descriptor, prefix, iter(_some_entries(descriptor, bounds.entries + 1)))
        except OSError:
            os.close(descriptor)
            raise


def walk(top: int, bounds: Bounds, *, prefix: str = "") -> Iterator[Entry]:
    """Yield what is below the descriptor `top`, which stays open; skip what cannot be looked at.

    A folder that is closed to its own owner is opened to it: files cannot be hidden in one.
    """
    levels = [_Level.of(os.dup(top), prefix, bounds)]
    try:
        while levels:
            found = next(levels[-1].entries, None)
            if found is None:
                os.close(levels.pop().descriptor)
                continue
            if not bounds.take():
                return
            with contextlib.suppress(OSError):
                entry = Entry(f"{levels[-1].prefix}{found.name}", _status(found))
                yield entry
                if entry.is_folder and _descends(levels, bounds):
                    folder = open_folder(levels[-1].descriptor, found.name)
                    levels.append(_Level.of(folder, f"{entry.name}/", bounds))
    finally:
        for level in levels:
            os.close(level.descriptor)


def _status(found: os.DirEntry[str]) -> os.stat_result:
    return found.stat(follow_symlinks=False)


def _descends(levels: list[_Level], bounds: Bounds) -> bool:
    if len(levels) <= bounds.depth:
        return True
    bounds.exceeded = bounds.exceeded or "depth"
    return False


def open_folder(parent: int, name: str) -> int:
    """Open a folder for reading, after its owner allowed itself to. Raise `OSError`."""
    try:
        return open_beneath(parent, name, FOLDER_FLAGS)
    except PermissionError:
        # A link in its place leads to nothing that its owner could not change as well.
        os.chmod(name, 0o700, dir_fd=parent)
        return open_beneath(parent, name, FOLDER_FLAGS)


def _open_to_all(parent: int, name: str) -> None:
    """Allow everything in a folder of another task, with that task's rights. Raise `OSError`.

    Tasks can make folders within each other's where all may write, as in `/dev/shm`.
    """
    place = open_beneath(parent, name, os.O_PATH | FOLDER_FLAGS)
    try:
        with files_as(SlotUser(os.fstat(place).st_uid)):
            Path(f"/proc/self/fd/{place}").chmod(0o777)
    except NotAllowed as problem:
        raise PermissionError(errno.EPERM, str(problem), name) from problem
    finally:
        os.close(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUsage:
    bytes: int = 0
    files: int = 0
    exceeded: str | None = None
    """The limit that the walk found exceeded, so that the rest is not counted."""

    def __add__(self, other: "DiskUsage") -> "DiskUsage":
        return DiskUsage(
            bytes=self.bytes + other.bytes,
            files=self.files + other.files,
            exceeded=self.exceeded or other.exceeded,
        )


def usage_of(top: int, bounds: Bounds) -> DiskUsage:
    """Count what is below: files and folders, and the space that they take on the disk."""
    blocks, files = 0.0, 0
    for entry in walk(top, bounds):
        files += 1
        # A file with several names is met once under each.
        blocks += entry.status.st_blocks / (1 if entry.is_folder else entry.status.st_nlink or 1)
    return DiskUsage(bytes=round(blocks * BLOCK_BYTES), files=files, exceeded=bounds.exceeded)


class NotRemoved(Exception):
    """A tree was not removed completely, because of an error or for lack of time."""


def empty_folder(top: int, *, ends_at: float, monotonic: Clock) -> None:
    """Remove all that is below the descriptor `top`. Raise `NotRemoved`.

    A folder within a folder is first moved to the top, so no depth takes more than two descriptors.
    """
    removal = _Removal(top, ends_at, monotonic)
    while names := _some_entries(top):
        before = removal.removed
        for found in names:
            removal.remove(found)
        if removal.removed == before:
            raise NotRemoved(removal.problem or "an entry cannot be removed")


def _some_entries(folder: int, most: int = BATCH) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(islice(entries, most))


@dataclass(slots=True)
class _Removal:
    top: int
    ends_at: float
    monotonic: Clock
    removed: int = 0
    problem: str | None = None
    _moved: int = 0

    def remove(self, found: os.DirEntry[str]) -> None:
        """Remove an entry of the top folder; note the problem if it cannot be removed."""
        if self.monotonic() > self.ends_at:
            raise NotRemoved("the time is over")
        try:
            if found.is_dir(follow_symlinks=False):
                self._remove_folder(found.name)
            else:
                os.unlink(found.name, dir_fd=self.top)
            self.removed += 1
        except OSError as error:
            self.problem = self.problem or error.strerror

    def _remove_folder(self, name: str) -> None:
        _allow_removal(self.top, name)
        folder = open_beneath(self.top, name, FOLDER_FLAGS)
        try:
            while entries := _some_entries(folder):
                gone = [self._is_gone(folder, entry) for entry in entries]
                if not any(gone):
                    break
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=self.top)

    def _is_gone(self, folder: int, entry: os.DirEntry[str]) -> bool:
        """Remove an entry or move it to the top. What resists protects nothing beside it."""
        if self.monotonic() > self.ends_at:
            raise NotRemoved("the time is over")
        try:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
            elif not _is_removed(folder, entry.name):
                _allow_removal(folder, entry.name)
                self._move_up(folder, entry.name)
        except OSError as error:
            self.problem = error.strerror
            return False
        self.removed += 1
        return True

    def _move_up(self, folder: int, name: str) -> None:
        while True:
            self._moved += 1
            with contextlib.suppress(FileExistsError, NotADirectoryError):
                return self._rename(folder, name)

    def _rename(self, folder: int, name: str) -> None:
        target = f".moved-{self._moved}"
        with contextlib.suppress(FileNotFoundError):
            os.stat(target, dir_fd=self.top, follow_symlinks=False)
            raise FileExistsError
        os.rename(name, target, src_dir_fd=folder, dst_dir_fd=self.top)


def _allow_removal(parent: int, name: str) -> None:
    """Allow what the removal of a folder's entries needs. Raise `OSError`."""
    try:
        # A link in its place leads to nothing that its owner could not change as well.
        os.chmod(name, 0o700, dir_fd=parent)
    except PermissionError:
        _open_to_all(parent, name)


def _is_removed(folder: int, name: str) -> bool:
    """Remove a folder if it is empty; return whether it was."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True
