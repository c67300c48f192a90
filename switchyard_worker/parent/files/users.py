"""The users that tasks run as: one for each task that runs, so that no two tasks share one.

`AGENT_USERS=20000-20031`, set by the image alone, names them; each has a group of the same number.
Files are made, read and removed with the rights of the task's user: the system lets a thread take
the rights of another user for files alone. So whatever a task puts in a file's place, the worker
reads nothing through it that the task could not have read itself.
"""

import contextlib
import ctypes
import os
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard.observability import get_logger
from switchyard_worker.boundary import AGENT_USERS

logger = get_logger("worker")

_RANGE: Final = re.compile(r"(\d{1,9})-(\d{1,9})")
_LOWEST: Final = 2_000  # below are the system's users and our own
_UNCHANGED: Final = -1

_libc: Final = ctypes.CDLL(None, use_errno=True)


class NotAllowed(ValueError):
    """The configured users of tasks cannot be used."""


@dataclass(frozen=True, slots=True)
class SlotUser:
    """A user of tasks alone: all its processes are ended, all its files are removed."""

    id: int
    """The number of the user, and of a group in which it is alone."""

    def __post_init__(self) -> None:
        """Raise `NotAllowed` for root, a user of the system, and the user that this process is."""
        if self.id < _LOWEST or self.id in {os.getuid(), os.geteuid()}:
            raise NotAllowed(f"user {self.id} cannot be a task's: others use it too")


def slot_users(host: Mapping[str, str]) -> Mapping[int, SlotUser]:
    """Return the users of tasks by id; none where children are the worker's user.

    Raise `NotAllowed`.
    """
    if host.get("AGENT_USER"):
        raise NotAllowed("AGENT_USER is no longer read: set AGENT_USERS, as in 20000-20031")
    users = host.get(AGENT_USERS)
    if not users:
        return {}
    found = _RANGE.fullmatch(users)
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not _LOWEST <= first <= last:
        raise NotAllowed(
            f"{AGENT_USERS} is {users!r}: it has the form 20000-20031, and no user below {_LOWEST}"
        )
    return {number: SlotUser(number) for number in range(first, last + 1)}


class SlotUsers:
    """Lends each attempt a user of its own: the one that has been unused for the longest time."""

    def __init__(self, users: Mapping[int, SlotUser]) -> None:
        self._used = bool(users)
        self._free = deque(users.values())

    def take(self) -> SlotUser | None:
        """Return `None` where children are the worker's own. Raise `OSError` if none is free."""
        if not self._used:
            return None
        if not self._free:
            raise OSError(f"every user of {AGENT_USERS} is in use")
        return self._free.popleft()

    def give_back(self, user: SlotUser | None) -> None:
        if user is not None:
            self._free.append(user)


@contextlib.contextmanager
def files_as(user: SlotUser | None, *, group: int | None = None) -> Iterator[None]:
    """Access files with the user's rights, in this thread and in this block alone.

    The process stays who it is: the user can neither signal nor trace it meanwhile.
    """
    if user is None:
        yield
        return
    with _rights((user.id, user.id if group is None else group)):
        yield


@contextlib.contextmanager
def files_in_group_of(user: SlotUser) -> Iterator[None]:
    """Access files as the worker itself, with the group of the user: for this block alone."""
    with _rights((os.geteuid(), user.id)):
        yield


@contextlib.contextmanager
def _rights(wanted: tuple[int, int]) -> Iterator[None]:
    before = _become(wanted)
    try:
        if _current() != wanted:
            raise PermissionError(f"files cannot be accessed as user {wanted[0]}")
        yield
    finally:
        _become(before)
        if _current() != before:
            os.abort()  # a thread with a task's rights must not go on


def _become(wanted: tuple[int, int]) -> tuple[int, int]:
    group: int = _libc.setfsgid(wanted[1])
    return _libc.setfsuid(wanted[0]), group


def _current() -> tuple[int, int]:
    return _become((_UNCHANGED, _UNCHANGED))


PR_SET_DUMPABLE: Final = 4  # <linux/prctl.h>
_NEEDED: Final = {"KILL": 5, "SETGID": 6, "SETUID": 7}  # <linux/capability.h>
_EFFECTIVE: Final = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)


def as_user(command: Sequence[str], user: SlotUser | None, *, folder: Path) -> list[str]:
    """Return how to start `command` as the user, in a folder that may be closed to the worker.

    Capabilities outlive a change from one ordinary user to another, so they are dropped by name.
    """
    if user is None:
        return list(command)
    return [
        "setpriv",
        f"--reuid={user.id}",
        f"--regid={user.id}",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--no-new-privs",
        "--",
        "env",
        f"--chdir={folder}",
        *command,
    ]


def check_users(
    host: Mapping[str, str], *, capabilities: int, slots: int, deletes_files: bool
) -> None:
    """Check at start that tasks can run as their users. Raise `NotAllowed`."""
    users = slot_users(host)
    if not users:
        return
    missing = [name for name, bit in _NEEDED.items() if not capabilities >> bit & 1]
    if missing:
        raise NotAllowed(
            f"{AGENT_USERS} is {host[AGENT_USERS]!r}, but the worker lacks the capabilities "
            f"{', '.join(missing)} that its entrypoint gives it"
        )
    if len(users) < slots:
        raise NotAllowed(
            f"MAX_CONCURRENT_CLAUDE is {slots}, but {AGENT_USERS} ({host[AGENT_USERS]}) names "
            f"{len(users)} users: each task that runs needs one of its own"
        )
    if not deletes_files:
        raise NotAllowed(
            f"DELETE_FILES_AFTER_UPLOAD is false, but {AGENT_USERS} is set: a later task with the "
            "same user could read what an earlier one left"
        )


def effective_capabilities(status: Path = Path("/proc/self/status")) -> int:
    """Return this process's capabilities; zero where the system has none."""
    try:
        found = _EFFECTIVE.search(status.read_text())
    except FileNotFoundError:
        return 0
    return int(found[1], 16) if found else 0


def hide_memory() -> None:
    """Close this process's memory and environment to other processes of its own user."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def log_isolation(host: Mapping[str, str]) -> None:
    """Log what keeps tasks apart on this machine, for operators and for developers."""
    users = slot_users(host)
    if users:
        fields = {"first_user": min(users), "last_user": max(users)}
        logger.info("each task runs as a user of its own", extra=fields)
        return
    logger.warning(
        "tasks are not isolated: they run as the worker's own user, and can read and change its "
        "files, each other's folders and each other's processes; run only tasks that you trust"
    )
