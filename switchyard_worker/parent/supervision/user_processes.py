"""Counts what the processes of a task's user use: threads, memory and open files.

Everything here blocks, and takes longer the more processes there are.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from switchyard_worker.parent.supervision.descendants import PROC, seen, stat_fields

_STAT_THREADS: Final = 17  # after the name, in proc(5)
_WRITTEN_MEMORY: Final = (b"RssAnon:", b"RssShmem:")  # in units of 1,024 bytes


def threads_of(user: int, *, most: int) -> int:
    """Count the threads of all processes of a user, up to the first that exceeds `most`."""
    count = 0
    for pid in processes_of(user):
        count += _thread_count(pid)
        if count > most:
            break
    return count


def memory_of(user: int) -> int:
    """Return the bytes in memory that only the processes of a user have written.

    Pages of files are left out: the system can drop them. Pages that processes share since a fork
    count for each.
    """
    return sum(map(_written_memory, processes_of(user)))


def open_files_of(pid: int) -> Iterator[os.stat_result]:
    """Yield what a process holds open, once for each thread: a thread may have files of its own.

    Raise `PermissionError` if the process hides them.
    """
    try:
        with os.scandir(PROC / str(pid) / "task") as threads:
            for thread in threads:
                with os.scandir(Path(thread, "fd")) as descriptors:
                    for descriptor in descriptors:
                        with contextlib.suppress(OSError):  # closed meanwhile
                            yield descriptor.stat()
    except PermissionError:
        now = seen(pid)
        if now is not None and not now.is_zombie:  # what has ended shows nothing, and has nothing
            raise
    except OSError:
        return  # it ended meanwhile


def processes_of(user: int) -> Iterator[int]:
    """Yield the ids of all processes of a user."""
    with os.scandir(PROC) as entries:
        for entry in entries:
            if entry.name.isdecimal() and _is_of(entry, user):
                yield int(entry.name)


def _is_of(entry: os.DirEntry[str], user: int) -> bool:
    """Return whether a process is the user's; in `/proc` one that hides its memory is root's."""
    try:
        owner = entry.stat().st_uid
        if owner != 0:
            return owner == user
        status = Path(entry, "status").read_bytes()
    except OSError:
        return False
    _, _, after = status.partition(b"\nUid:")
    return bool(after) and int(after.split(maxsplit=1)[0]) == user


def _thread_count(pid: int) -> int:
    fields = stat_fields(pid)
    return int(fields[_STAT_THREADS]) if fields else 0


def _written_memory(pid: int) -> int:
    try:
        lines = Path(PROC, str(pid), "status").read_bytes().split(b"\n")
    except OSError:
        return 0  # it ended meanwhile
    counted = [line.split()[1] for line in lines if line.startswith(_WRITTEN_MEMORY)]
    return 1024 * sum(map(int, counted))
