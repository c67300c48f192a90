"""A process that a command started, and whether it still runs.

psutil takes longer to import than a listing may take. Linux has the same facts in two small files.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLOCK_STEP_SECONDS: Final = 5.0
"""Start times are derived from the wall clock, which may be corrected."""

PROC: Final = Path("/proc")
ZOMBIE: Final = "Z"


@dataclass(frozen=True)
class StartedProcess:
    """A process by id and start time, since ids are used again."""

    pid: int
    created: float
    signature: str = ""
    """The configuration it was started with; a different signature calls for a new process."""


def still_runs(started: StartedProcess | None, *, proc: Path = PROC) -> bool:
    """Return whether it runs: False if it ended, even if its id is in use again."""
    if started is None:
        return False
    if not (proc / "stat").exists():  # not Linux
        from switchyard_local.processes.process import find  # noqa: PLC0415 - it imports psutil

        return find(started) is not None
    try:
        state, created = _state_and_start(proc, started.pid)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != ZOMBIE and abs(created - started.created) < CLOCK_STEP_SECONDS


def _state_and_start(proc: Path, pid: int) -> tuple[str, float]:
    """Read the fields 3 and 22 of `stat`; field 2, a name, may contain spaces and brackets."""
    fields = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    ticks_after_boot = int(fields[19])
    return fields[0], _booted(proc) + ticks_after_boot / os.sysconf("SC_CLK_TCK")


def _booted(proc: Path) -> float:
    lines = (proc / "stat").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("btime ")).split()[1])
