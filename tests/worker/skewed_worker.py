"""`python -m switchyard_worker` on a machine whose wall clock is wrong.

Usage: skewed_worker.py FILE. The file says by how many seconds the clock is ahead of the real time;
writing another number in place sets the clock while the worker runs. Timers are not affected, as on
a real machine.
"""

import os
import sys
import time
from pathlib import Path

_time, _time_ns = time.time, time.time_ns


def skew_wall_clock(file: Path) -> None:
    """Patch the two functions by which Python code reads the wall clock."""

    descriptor = os.open(file, os.O_RDONLY)  # held, for machines that have none left

    def ahead_seconds() -> float:
        return float(os.pread(descriptor, 100, 0))

    time.time = lambda: _time() + ahead_seconds()
    time.time_ns = lambda: _time_ns() + round(ahead_seconds() * 1e9)


if __name__ == "__main__":
    skew_wall_clock(Path(sys.argv[1]))
    from switchyard_worker.__main__ import (  # after the clock is wrong, as at a real start
        leave,
        main,
    )

    leave(main())
