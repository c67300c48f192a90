"""How much memory a child takes, with all that it started."""

import psutil

from worker.descendants import processes_below


def resident_bytes(pid: int) -> int:
    """Zero once it is gone."""
    living = [process.pid for process in processes_below([pid]) if not process.is_zombie]
    return sum(map(_resident, (pid, *living)))


def _resident(pid: int) -> int:
    try:
        resident: int = psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
    return resident
