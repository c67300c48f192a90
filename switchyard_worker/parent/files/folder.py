"""The folder of one attempt, through which the worker reads and writes all its files."""

import contextlib
import math
import os
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final

from switchyard.domain.ids import REQUEST_ID, folder_name
from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.confined import (
    FOLDER_FLAGS,
    create_file,
    open_beneath,
    problem_with,
    read_bounded,
)
from switchyard_worker.parent.files.trees import (
    Bounds,
    DiskUsage,
    Entry,
    NotRemoved,
    empty_folder,
    usage_of,
    walk,
)
from switchyard_worker.parent.files.users import NotAllowed, SlotUser, files_as, files_in_group_of

UPLOADED: Final = ("artifacts", "logs", "traces")
TEMPORARY: Final = "tmp"
HOME: Final = "home"
SHARED_PLACES: Final = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")  # noqa: S108
"""Folders that all users may write to, if the platform has them."""
WITH_WORKERS_GROUP: Final = 0o770
"""Mode of the folder above a task's while that is made by its user, with the worker's group."""
FOR_ITS_USER: Final = 0o710
"""Mode of the folder above a task's, which belongs to the worker and has the group of the task's
user: no other user reaches what a task allows others within its own folder."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Sizes of ordinary files by their names, and how many others there are, by what is wrong."""

    sizes: dict[str, int] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def refuse(self, problem: str) -> None:
        self.refused[problem] += 1


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A folder of the task's user, closed to all others, and a descriptor of it."""

    path: Path
    descriptor: int
    user: SlotUser | None = None

    @classmethod
    def fresh(
        cls,
        output_folder: Path,
        lease: Lease,
        user: SlotUser | None = None,
        part: str = "",
    ) -> "TaskFolder":
        """Make a folder, with the fence in its path: an older attempt writes elsewhere.

        A grader of the attempt has one of its own, whose path ends in `part`. Raise `OSError`.
        """
        request_id = lease.ref.request_id
        if not REQUEST_ID.fullmatch(request_id):
            raise ValueError(f"{request_id!r} cannot name a folder")
        path = (output_folder / folder_name(request_id) / f"{lease.fence}{part}").absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path)
        make_folder(path, user)
        folder = cls.opened(path, user)
        try:
            folder._prepare()
        except OSError:
            folder.close()
            raise
        return folder

    @classmethod
    def opened(cls, path: Path, user: SlotUser | None = None) -> "TaskFolder":
        """Open a folder that exists, whatever rights its user left there. Raise `OSError`."""
        if user is None:
            return cls(path, os.open(path, FOLDER_FLAGS), user)
        place = os.open(path, os.O_PATH | FOLDER_FLAGS)  # the user cannot pass to an older attempt
        try:
            with files_as(user):
                Path(f"/proc/self/fd/{place}").chmod(0o700)
                return cls(path, os.open(".", FOLDER_FLAGS, dir_fd=place), user)
        finally:
            os.close(place)

    def _prepare(self) -> None:
        with files_as(self.user):
            if self.user is not None:
                os.fchown(self.descriptor, -1, self.user.id)
            for name in (*UPLOADED, TEMPORARY, HOME):
                os.mkdir(name, mode=0o700, dir_fd=self.descriptor)

    @property
    def owners(self) -> Collection[int]:
        """Return the users whose files are read: the task's, or the worker's if it has none."""
        return {self.user.id if self.user else os.geteuid()}

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Raise `NotReadable`, or `FileNotFoundError`."""
        with files_as(self.user):
            return read_bounded(self.descriptor, name, max_bytes=max_bytes, owners=self.owners)

    def create(self, name: str) -> IO[str]:
        """Open a new text file for writing. Raise `OSError`."""
        with files_as(self.user):
            return os.fdopen(create_file(self.descriptor, name), "w", encoding="utf-8")

    def files(self, tops: Collection[str], bounds: Bounds) -> FoundFiles:
        """Find ordinary files below some of its folders, and what is in the place of others."""
        found = FoundFiles()
        with files_as(self.user):
            for top in tops:
                self._find(top, bounds, found)
        return found

    def top_entries(self, bounds: Bounds) -> list[Entry]:
        """Return what is in the folder itself, and nothing below that."""
        flat = replace(bounds, depth=0)
        with files_as(self.user):
            entries = list(walk(self.descriptor, flat))
        if flat.exceeded != "depth":
            bounds.exceeded = flat.exceeded
        return entries

    def _find(self, top: str, bounds: Bounds, found: FoundFiles) -> None:
        try:
            with self._opened(top) as descriptor:
                for entry in walk(descriptor, bounds, prefix=f"{top}/"):
                    problem = problem_with(entry.status, self.owners)
                    if problem is None:
                        found.sizes[entry.name] = entry.status.st_size
                    elif not entry.is_folder:
                        found.refuse(problem)
        except FileNotFoundError:
            pass  # the task removed its own folder
        except OSError as error:
            found.refuse(f"cannot be opened: {error.strerror}")

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        descriptor = open_beneath(self.descriptor, name, FOLDER_FLAGS)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def usage(self, bounds: Bounds) -> DiskUsage:
        """Count what the task's user has written: here and, if it has a user, anywhere else."""
        with files_as(self.user):
            found = usage_of(self.descriptor, bounds)
            for place, name in _elsewhere(self.user):
                found += _usage_elsewhere(place, name, bounds)
            return found

    def remove(self, *, seconds: float, monotonic: Clock) -> int:
        """Remove the folder, and its user's files elsewhere; return how many entries these were.

        Raise `NotRemoved`.
        """
        ends_at, elsewhere = monotonic() + seconds, 0
        try:
            self._empty(ends_at=ends_at, monotonic=monotonic)
            with contextlib.suppress(FileNotFoundError):
                self.path.rmdir()
            with files_as(self.user):
                for place, name in _elsewhere(self.user):
                    _remove_elsewhere(place, name, ends_at=ends_at, monotonic=monotonic)
                    elsewhere += 1
        except OSError as error:
            raise NotRemoved(error.strerror) from error
        with contextlib.suppress(OSError):  # another attempt's folder may still be beside it
            self.path.parent.rmdir()
        return elsewhere

    def _empty(self, *, ends_at: float, monotonic: Clock) -> None:
        with files_as(self.user):
            os.fchmod(self.descriptor, 0o700)
            empty_folder(self.descriptor, ends_at=ends_at, monotonic=monotonic)

    def close(self) -> None:
        os.close(self.descriptor)


def make_folder(path: Path, user: SlotUser | None) -> None:
    """Make a task's folder, below one that only the worker and the task's user can pass.

    Raise `OSError`.
    """
    if user is None:
        path.mkdir(mode=0o700)
        return
    os.chown(path.parent, -1, os.getegid())  # an earlier attempt's user may have its group
    path.parent.chmod(WITH_WORKERS_GROUP)
    with files_as(user, group=os.getegid()):
        path.mkdir(mode=0o700)
    with files_in_group_of(user):
        os.chown(path.parent, -1, user.id)
        path.parent.chmod(FOR_ITS_USER)


def _elsewhere(user: SlotUser | None) -> Iterator[tuple[str, str]]:
    """Yield what a task's user owns in the machine's shared folders: their places and names."""
    for place in SHARED_PLACES if user else ():
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if user and entry.stat(follow_symlinks=False).st_uid == user.id:
                        yield place, entry.name


def _usage_elsewhere(place: str, name: str, bounds: Bounds) -> DiskUsage:
    try:
        status = Path(place, name).lstat()
        own = DiskUsage(bytes=status.st_blocks * 512, files=1)
        if not stat.S_ISDIR(status.st_mode):
            return own
        descriptor = os.open(Path(place, name), FOLDER_FLAGS)
    except OSError:
        return DiskUsage()
    try:
        return own + usage_of(descriptor, bounds)
    finally:
        os.close(descriptor)


def _remove_elsewhere(place: str, name: str, *, ends_at: float, monotonic: Clock) -> None:
    path = Path(place, name)
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    path.chmod(0o700)
    descriptor = os.open(path, FOLDER_FLAGS)
    try:
        empty_folder(descriptor, ends_at=ends_at, monotonic=monotonic)
    finally:
        os.close(descriptor)
    path.rmdir()


def remove_older(path: Path, *, ends_at: float, monotonic: Clock) -> None:
    """Remove a folder of an attempt that no longer runs, if there is one. Raise `NotRemoved`.

    Nothing is removed elsewhere: its user may be in use again.
    """
    try:
        owner = path.lstat().st_uid
        older = TaskFolder.opened(path, SlotUser(owner) if owner != os.geteuid() else None)
    except FileNotFoundError:
        return
    except (NotAllowed, OSError) as problem:
        raise NotRemoved(f"{path} cannot be removed: {problem}") from problem
    try:
        older._empty(ends_at=ends_at, monotonic=monotonic)
        path.rmdir()
    except OSError as problem:
        raise NotRemoved(f"{path} cannot be removed: {problem.strerror}") from problem
    finally:
        older.close()


def _make_room(path: Path) -> None:
    """Remove a folder of that name: request ids may be used again once a stage was reset."""
    try:
        remove_older(path, ends_at=math.inf, monotonic=lambda: 0.0)
    except NotRemoved as problem:
        raise OSError(f"{path} cannot be removed: {problem}") from problem
