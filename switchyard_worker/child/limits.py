"""Bounds on the child and on all that it starts, set by itself before anything else."""

import contextlib
import ctypes
import errno
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from switchyard_worker.boundary import WORKER_MARK

MEGABYTE: Final = 1024 * 1024
ENDED_FIRST: Final = "1000"  # the highest
NICENESS: Final = 5  # the worker, which renews the leases, comes first


def limit_resources(*, memory_mb: int | None, file_mb: int, processes: int | None = None) -> None:
    """Limit this process and all that it starts; none can lift the limits.

    Memory is what a process may write to (`RLIMIT_DATA`): agents reserve far more addresses than
    they ever use, so a bound on those would hit the innocent.
    """
    os.nice(NICENESS)
    end_first_when_memory_is_short()
    _limit(resource.RLIMIT_CORE, 0)  # a dump would hold the credential
    _limit(resource.RLIMIT_FSIZE, file_mb * MEGABYTE)
    if memory_mb is not None:
        _limit(resource.RLIMIT_DATA, memory_mb * MEGABYTE)
    if processes is not None:  # the system counts by user, so only where the agent is another
        _limit(resource.RLIMIT_NPROC, processes)
        run_when_others_rest()


def end_first_when_memory_is_short() -> None:
    """Let the system end this process and all that it starts before the worker and its neighbours.

    It ends the largest process otherwise, which the worker is beside many small ones. A program can
    undo this: to prevent that takes a privilege that the worker does not have.
    https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html
    """
    with contextlib.suppress(OSError):  # only Linux has it
        Path("/proc/self/oom_score_adj").write_text(ENDED_FIRST)


def run_when_others_rest() -> None:
    """Take the processor only from processes that do the same, for good.

    The worker wakes up at once, however many processes its tasks have. No process can leave this
    policy without a privilege: https://man7.org/linux/man-pages/man7/sched.7.html
    """
    if sys.platform != "linux":
        return
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except PermissionError as refused:  # a platform's filter of system calls: niceness is left
        sys.stderr.write(f"the task runs with niceness {NICENESS} alone: {refused}\n")


def limit_hit_by(error: Exception) -> str | None:
    """Return a sentence about the limit that an error comes from, if there is one."""
    if isinstance(error, MemoryError):
        return f"out of memory: a process of a task may use {_limit_mb(resource.RLIMIT_DATA)} MB"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        most = _limit_mb(resource.RLIMIT_FSIZE)
        return f"a file would be larger than the {most} MB that are allowed"
    return None


def _limit_mb(kind: int) -> int:
    return resource.getrlimit(kind)[0] // MEGABYTE


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))


PR_SET_PDEATHSIG: Final = 1  # <linux/prctl.h>


def end_with_worker(host: Mapping[str, str]) -> None:
    """Ask to be killed when the worker ends, and check that it has not ended already.

    Set by the child itself, since a change of user on the way here would undo it. Only Linux can.
    A task that `switchyard_worker.task` runs has no worker.
    """
    if sys.platform != "linux" or WORKER_MARK not in host:
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if str(os.getppid()) != host[WORKER_MARK].partition("-")[0]:
        os.kill(os.getpid(), signal.SIGKILL)
