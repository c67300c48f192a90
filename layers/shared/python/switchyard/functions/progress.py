"""Reports how far a function is, to the worker that runs it; a plain call reports nothing."""

import math
from collections.abc import Callable
from typing import Final

Reporter = Callable[[str], None]

_REPORTERS: Final[list[Reporter]] = []
"""Holds one reporter in a task's child process, and none anywhere else."""


def progress(fraction: float, text: str = "") -> None:
    """Report how much is done, from 0 to 1, and in a few words what is being done.

    Readers see it in `switchyard job`, in the health check and in the task's heartbeats. It costs
    little: at most one report a second leaves the process.
    """
    line = progress_line(fraction, text)
    for report in _REPORTERS:
        report(line)


def report_to(reporter: Reporter | None) -> None:
    """Let reports go to `reporter` from now on; `None` discards them."""
    _REPORTERS[:] = [] if reporter is None else [reporter]


def progress_line(fraction: float, text: str = "") -> str:
    """Return the line that readers see, such as "40 % page 12 of 30"."""
    share = float(fraction)
    share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    words = " ".join(str(text).split())
    return f"{math.floor(share * 100)} % {words}".strip()
