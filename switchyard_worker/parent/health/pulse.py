"""Checks whether tasks can write files on this machine, and keeps the worker's pulse.

The pulse is a file that is written as long as the event loop turns and the worker takes tasks. A
worker that hangs loses its leases, so no task is lost; but its slots are, until it is replaced.
"""

import contextlib
import errno
import itertools
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

from switchyard.ports import Sleep

PROBE_FILE: Final = ".probe"
"""Followed by the process id, since the health check probes beside the worker, and by a number,
since attempts that end together probe together."""
_PROBES: Final = itertools.count()
PROBE_BYTES: Final = 64 * 1024
LEAST_FREE_BYTES: Final = 32 * 1024 * 1024
LEAST_FREE_FILES: Final = 256
LEAST_FREE_DESCRIPTORS: Final = 16


def probe(folder: Path) -> str | None:
    """Write a file where tasks write, read it back, and say what is wrong or scarce."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_and_read_back(folder / f"{PROBE_FILE}-{os.getpid()}-{next(_PROBES)}")
        _open_descriptors()
        disk = os.statvfs(folder)
    except OSError as problem:
        return f"{folder}: {problem.strerror or problem}"
    if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES:
        return f"{folder} has less than {LEAST_FREE_BYTES // 2**20} MB left"
    if disk.f_files and disk.f_favail < LEAST_FREE_FILES:
        return f"{folder} has room for less than {LEAST_FREE_FILES} files"
    return None


def _write_and_read_back(file: Path) -> None:
    written = bytes(range(256)) * (PROBE_BYTES // 256)
    try:
        with file.open("wb") as probed:
            probed.write(written)
            probed.flush()
            os.fsync(probed.fileno())
        if file.read_bytes() != written:
            raise OSError(errno.EIO, "what was written is not what is read back")
    finally:
        file.unlink(missing_ok=True)


def _open_descriptors() -> None:
    with ExitStack() as opened:
        for _ in range(LEAST_FREE_DESCRIPTORS):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))


PULSE_FILE: Final = ".pulse"
BEAT_SECONDS: Final = 10.0
MISSED_MS: Final = 60_000


async def keep_pulse(folder: Path, *, sick: Callable[[], str | None], sleep: Sleep) -> NoReturn:
    """Beat while the machine is well; remove the pulse of a sick one."""
    while True:
        _beat(folder, sick=sick() is not None)
        await sleep(BEAT_SECONDS)


def has_pulse(folder: Path, *, now_ms: int) -> bool:
    try:
        touched_ms = (folder / PULSE_FILE).stat().st_mtime * 1000
    except OSError:
        return False
    return now_ms - touched_ms < MISSED_MS


def _beat(folder: Path, *, sick: bool) -> None:
    with contextlib.suppress(OSError):  # no folder to write to is no health either
        if sick:
            (folder / PULSE_FILE).unlink(missing_ok=True)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / PULSE_FILE).touch()
