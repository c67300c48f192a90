"""Finds and kills what a child left behind, sessions of their own included.

Everything here blocks, and takes longer the more processes there are: it is called off the event
loop. All processes are looked at in one pass, however many are searched for.
"""

import contextlib
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

PROC: Final = Path("/proc")
# The places of fields after the name, in proc(5).
_STAT_STATE, _STAT_PARENT, _STAT_SESSION = 0, 1, 3
_STAT_FLAGS, _STAT_THREADS, _STAT_STARTED = 6, 17, 19
_ENDED: Final = (b"Z", b"X")
_EXITING: Final = 0x4  # PF_EXITING in <linux/sched.h>


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as it was during a pass. Its start distinguishes later ones."""

    pid: int
    parent: int
    session: int
    started: float
    is_zombie: bool
    """Whether all its threads have ended: the first may end long before the others."""


Processes = Mapping[int, Seen]


def all_processes() -> Processes:
    """Return all processes by their ids, in one pass."""
    found = _from_proc() if sys.platform == "linux" else _from_psutil()
    return {process.pid: process for process in found}


def processes_below(pids: Collection[int], processes: Processes | None = None) -> list[Seen]:
    """Return the children of processes, and all below these."""
    if processes is None:
        processes = all_processes()
    children: dict[int, list[Seen]] = defaultdict(list)
    for process in processes.values():
        children[process.parent].append(process)
    found: list[Seen] = []
    waiting = list(pids)
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [process.pid for process in below]
    return found


@dataclass(frozen=True, slots=True)
class Orphans:
    living: list[Seen]
    zombies: list[int]
    """Children that this process has to reap."""

    def __bool__(self) -> bool:
        return bool(self.living or self.zombies)


@dataclass(frozen=True, slots=True)
class Running:
    """The children whose tasks run, and the users that they run as, where each has its own."""

    children: frozenset[int] = frozenset()
    users: frozenset[int] = frozenset()

    def has(self, process: Seen) -> bool:
        """Whether a process belongs to a task that runs: by its session, or by its user."""
        if process.session in self.children:
            return True
        return bool(self.users) and owner_of(process.pid) in self.users


def orphans(running: Running) -> Orphans:
    """Return the processes that this subreaper inherited, with all below them.

    What this process started itself shares its session or is a child that runs. What belongs to a
    task that runs is none, also if it has left its parent and its session: it ends with its task.
    """
    own_session = os.getsid(0)
    if _has_none(running.children, own_session):
        return Orphans([], [])
    processes = all_processes()
    inherited = [
        process
        for process in processes.values()
        if process.parent == os.getpid()
        and process.pid not in running.children
        and process.session != own_session
    ]
    lost = [process for process in inherited if not running.has(process)]
    below = processes_below([process.pid for process in lost], processes)
    return Orphans(
        living=[process for process in (*lost, *below) if not process.is_zombie],
        zombies=[process.pid for process in inherited if process.is_zombie],
    )


@dataclass(slots=True)
class Hunt:
    """Ends orphans in passes: call `step` until nothing is left, or time is over."""

    _stopped: set[tuple[int, float]] = field(default_factory=set)

    def step(self, running: Running) -> Orphans:
        """Stop those that are new, or kill all if none is, and reap; return what was found.

        A process that is stopped cannot fork, and still counts against the limit on processes: a
        fork bomb fills that limit up and is killed as a whole. Killed one by one, each would make
        room for the next.
        """
        found = orphans(running)
        reap(found.zombies)
        new = [p for p in found.living if (p.pid, p.started) not in self._stopped]
        if new:
            send(new, signal.SIGSTOP)
            self._stopped.update((process.pid, process.started) for process in new)
        else:
            kill(found.living)
        return found


def kill(processes: Iterable[Seen]) -> None:
    send(processes, signal.SIGKILL)


def send(processes: Iterable[Seen], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(OSError):  # gone already, or not ours to end
            _send(process, number)


def reap(pids: Iterable[int]) -> None:
    """Reap only these processes: asyncio reaps those that it started."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _send(process: Seen, number: signal.Signals) -> None:
    """Send a signal, but not to a later process with the same id."""
    if sys.platform != "linux":
        os.kill(process.pid, number)
        return
    descriptor = os.pidfd_open(process.pid)
    try:
        now = seen(process.pid)
        if now is not None and now.started == process.started:
            signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def _has_none(except_for: Collection[int], own_session: int) -> bool:
    """Return whether there are no orphans, which is cheaper than to look at all processes."""
    children = _own_children()
    if children is None:
        return False
    others = [seen(pid) for pid in children if pid not in except_for]
    return all(child is not None and child.session == own_session for child in others)


def _own_children() -> set[int] | None:
    """Return the children of all threads; `None` where the system does not list them."""
    try:
        with os.scandir(PROC / "self/task") as threads:
            lists = [Path(thread, "children").read_bytes() for thread in threads]
    except OSError:
        return None
    return {int(pid) for listed in lists for pid in listed.split()}


def _from_proc() -> Iterator[Seen]:
    with os.scandir(PROC) as entries:
        for entry in entries:
            process = seen(int(entry.name)) if entry.name.isdecimal() else None
            if process is not None:
                yield process


def seen(pid: int) -> Seen | None:
    """Return a process, or `None` if it is gone."""
    fields = _stat_fields(PROC / str(pid))
    if fields is None:
        return None
    return Seen(
        pid=pid,
        parent=int(fields[_STAT_PARENT]),
        session=int(fields[_STAT_SESSION]),
        started=int(fields[_STAT_STARTED]),
        is_zombie=fields[_STAT_STATE] in _ENDED and int(fields[_STAT_THREADS]) <= 1,
    )


def thread_is_ending(folder: Path) -> bool:
    """Return whether a thread, by its folder in `/proc`, has ended or is about to.

    On its way out it has no memory any more, so the system shows its folder as root's. That takes
    a moment, or seconds where others have the processors.
    """
    fields = _stat_fields(folder)
    if fields is None or fields[_STAT_STATE] in _ENDED:
        return True
    return bool(int(fields[_STAT_FLAGS]) & _EXITING)


def owner_of(pid: int) -> int | None:
    """Return the user of a process; in `/proc` one that hides its memory is root's."""
    try:
        owner = Path(PROC, str(pid)).stat().st_uid
        if owner != 0:
            return owner
        status = Path(PROC, str(pid), "status").read_bytes()
    except OSError:
        return None  # it is gone
    _, _, after = status.partition(b"\nUid:")
    return int(after.split(maxsplit=1)[0]) if after else None


def _stat_fields(folder: Path) -> list[bytes] | None:
    """Read the fields of a process or a thread after its name; `None` if it is gone."""
    try:
        descriptor = os.open(f"{folder}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        content = os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content[content.rindex(b")") + 2 :].split()  # the name before it may contain anything


def _from_psutil() -> Iterator[Seen]:
    for process in psutil.process_iter(["ppid", "status", "create_time"]):
        with contextlib.suppress(psutil.Error, OSError):
            yield Seen(
                pid=process.pid,
                parent=process.info["ppid"] or 0,
                session=os.getsid(process.pid),
                started=process.info["create_time"] or 0.0,
                is_zombie=process.info["status"] == psutil.STATUS_ZOMBIE,
            )


def resident_bytes(pid: int) -> int:
    """Return the memory of a process and all below it; zero once it is gone."""
    living = [process.pid for process in processes_below([pid]) if not process.is_zombie]
    return sum(map(_resident, (pid, *living)))


def _resident(pid: int) -> int:
    try:
        resident: int = psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
    return resident
