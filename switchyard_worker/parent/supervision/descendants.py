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
_STAT_STATE, _STAT_PARENT, _STAT_SESSION, _STAT_STARTED = 0, 1, 3, 19
# after the name, in proc(5)


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as it was during a pass. Its start distinguishes later ones."""

    pid: int
    parent: int
    session: int
    started: float
    is_zombie: bool


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


def orphans(*, except_for: Collection[int]) -> Orphans:
    """Return the processes that this subreaper inherited, with all below them.

    What this process started itself shares its session or is excepted, and so is what belongs to
    the session of one that is excepted: its task still runs.
    """
    own_session = os.getsid(0)
    if _has_none(except_for, own_session):
        return Orphans([], [])
    processes = all_processes()
    inherited = [
        process
        for process in processes.values()
        if process.parent == os.getpid()
        and process.pid not in except_for
        and process.session != own_session
    ]
    lost = [process for process in inherited if process.session not in except_for]
    below = processes_below([process.pid for process in lost], processes)
    return Orphans(
        living=[process for process in (*lost, *below) if not process.is_zombie],
        zombies=[process.pid for process in inherited if process.is_zombie],
    )


@dataclass(slots=True)
class Hunt:
    """Ends orphans in passes: call `step` until nothing is left, or time is over."""

    _stopped: set[tuple[int, float]] = field(default_factory=set)

    def step(self, except_for: Collection[int]) -> Orphans:
        """Stop those that are new, or kill all if none is, and reap; return what was found.

        A process that is stopped cannot fork, and still counts against the limit on processes: a
        fork bomb fills that limit up and is killed as a whole. Killed one by one, each would make
        room for the next.
        """
        found = orphans(except_for=except_for)
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
    fields = stat_fields(pid)
    if fields is None:
        return None
    return Seen(
        pid=pid,
        parent=int(fields[_STAT_PARENT]),
        session=int(fields[_STAT_SESSION]),
        started=int(fields[_STAT_STARTED]),
        is_zombie=fields[_STAT_STATE] in (b"Z", b"X"),
    )


def stat_fields(pid: int) -> list[bytes] | None:
    """Read a process's fields in `stat` after its name; `None` if it is gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
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
