"""Counts what the processes of a task's user use: threads, memory and open files.

Everything here blocks, and takes longer the more processes there are.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard_worker.parent.supervision.descendants import PROC, owner_of, thread_is_ending

_THREADS: Final = b"Threads:"
_WRITTEN_MEMORY: Final = (b"RssAnon:", b"RssShmem:")  # in units of 1,024 bytes
_COUNTED: Final = (_THREADS, *_WRITTEN_MEMORY)


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """The resources that all processes of a user have together."""

    threads: int = 0
    memory: int = 0
    """Bytes that only they have written. Pages of files are left out, which the system can drop;
    pages that processes share since a fork count for each."""


def use_of(user: int, *, most_threads: int) -> ProcessUse:
    """Count what the processes of a user use, up to the first with too many threads."""
    threads = memory = 0
    for pid in processes_of(user):
        status = _use_of_process(pid)
        threads += status.get(_THREADS, 0)
        memory += 1024 * sum(status.get(name, 0) for name in _WRITTEN_MEMORY)
        if threads > most_threads:
            break
    return ProcessUse(threads, memory)


def open_files_of(pid: int) -> Iterator[os.stat_result]:
    """Yield what a process holds open, once for each thread: a thread may have files of its own.

    Raise `PermissionError` if a thread hides them.
    """
    for thread in _threads_of(pid):
        try:
            with os.scandir(thread / "fd") as descriptors:
                for descriptor in descriptors:
                    with contextlib.suppress(OSError):  # closed meanwhile
                        yield descriptor.stat()
        except PermissionError:
            if not thread_is_ending(thread):
                raise
        except OSError:
            continue  # it ended meanwhile


def processes_of(user: int) -> Iterator[int]:
    """Yield the ids of all processes of a user."""
    with os.scandir(PROC) as entries:
        for entry in entries:
            if entry.name.isdecimal() and owner_of(int(entry.name)) == user:
                yield int(entry.name)


def _threads_of(pid: int) -> Iterator[Path]:
    """Yield the folders of a process's threads; none once it is gone."""
    with contextlib.suppress(OSError), os.scandir(PROC / str(pid) / "task") as threads:
        for thread in threads:
            yield Path(thread)


def _use_of_process(pid: int) -> Mapping[bytes, int]:
    """Return the figures that count here; none of a process that ended meanwhile.

    A thread that has ended shows no memory. The first of a process may, while others go on.
    """
    found = _figures_in(PROC / str(pid))
    if found.get(_THREADS, 0) <= 1 or _WRITTEN_MEMORY[0] in found:
        return found
    others = map(_figures_in, _threads_of(pid))
    return found | next((figures for figures in others if _WRITTEN_MEMORY[0] in figures), {})


def _figures_in(folder: Path) -> dict[bytes, int]:
    try:
        lines = Path(folder, "status").read_bytes().split(b"\n")
    except OSError:
        return {}
    wanted = [line.split() for line in lines if line.startswith(_COUNTED)]
    return {fields[0]: int(fields[1]) for fields in wanted}
