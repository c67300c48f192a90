"""Finds and kills what a child left behind, sessions of their own included."""

import os
from collections.abc import Collection, Iterable
from typing import Final

import psutil

REAPING_SECONDS: Final = 0.5


def processes_below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
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
    victims = list(processes)
    for process in victims:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(victims, timeout=REAPING_SECONDS)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
