"""Finds and kills what a child left behind, sessions of their own included."""

import contextlib
import os
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import psutil

from switchyard.ports import Sleep

REAPING_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.3)


def processes_below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def orphans(*, except_for: Collection[int]) -> list[psutil.Process]:
    """Processes that a subreaper inherited, with all below them.

    What this process started itself shares its session or is excepted.
    """
    own_session = os.getsid(0)
    found: list[psutil.Process] = []
    for process in psutil.Process().children():
        if process.pid not in except_for and _session(process.pid) != own_session:
            found += [process, *processes_below(process.pid)]
    return found


def kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):  # gone already, or not ours to kill
            process.kill()


async def reap(processes: Sequence[psutil.Process], *, sleep: Sleep) -> None:
    """Wait until they are gone, so that none stays a zombie; for half a second at most."""
    for pause in REAPING_PAUSES:
        _, processes = psutil.wait_procs(processes, timeout=0)
        if not processes:
            return
        await sleep(pause)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
