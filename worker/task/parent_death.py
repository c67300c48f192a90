"""Ties a child's life to its worker's: the system kills the child when the worker is gone."""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

PR_SET_PDEATHSIG: Final = 1  # <linux/prctl.h>
_STARTED: Final = 19  # after the name, in proc(5)
MARK: Final = "SWITCHYARD_WORKER"
"""In the environment of all that runs for a task: which worker started it, and when that began."""


def end_with_worker(host: Mapping[str, str]) -> None:
    """Ask for the signal, then see whether the worker is still there: it may have gone before.

    Set by the child itself, since a change of user on the way here would undo it. Only Linux can.
    A task that is run by hand has no worker.
    """
    if sys.platform != "linux" or MARK not in host:
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if str(os.getppid()) != host[MARK].partition("-")[0]:
        os.kill(os.getpid(), signal.SIGKILL)


def mark_of_worker() -> str:
    """Tell this worker from another one, also from an earlier one with its process id."""
    return f"{os.getpid()}-{_started()}"


@cache
def _started() -> str:
    try:
        return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_STARTED]
    except FileNotFoundError:
        return "0"
