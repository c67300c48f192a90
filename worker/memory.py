"""How much memory a child takes, with all that it started."""

import psutil

from worker.descendants import processes_below


def resident_bytes(pid: int) -> int:
    """Zero once it is gone."""
    try:
        tree = [psutil.Process(pid), *processes_below(pid)]
    except psutil.Error:
        return 0
    return sum(map(_resident, tree))


def _resident(process: psutil.Process) -> int:
    try:
        resident: int = process.memory_info().rss
    except psutil.Error:
        return 0
    return resident
