"""Bounds on the child and on all that it starts, set by itself before anything else."""

import errno
import os
import resource
import sys
from typing import Final

MEGABYTE: Final = 1024 * 1024
MAX_FILE_MB: Final = 100
MAX_PROCESSES: Final = 256
"""Of one task, threads among them; the Claude CLI has about thirty."""
TOO_MANY_PROCESSES: Final = MAX_PROCESSES * 9 // 10
"""A task that has more is about to be refused the next, and slows all others down: it is ended."""
NICENESS: Final = 5  # the worker, which renews the leases, comes first


def limit_resources(*, memory_mb: int | None, file_mb: int, processes: int | None = None) -> None:
    """Each process below inherits them, and none can lift them.

    Memory is what a process may write to (`RLIMIT_DATA`): agents reserve far more addresses than
    they ever use, so a bound on those would hit the innocent.
    """
    os.nice(NICENESS)
    _limit(resource.RLIMIT_CORE, 0)  # a dump would hold the credential
    _limit(resource.RLIMIT_FSIZE, file_mb * MEGABYTE)
    if memory_mb is not None:
        _limit(resource.RLIMIT_DATA, memory_mb * MEGABYTE)
    if processes is not None:  # the system counts by user, so only where the agent is another
        _limit(resource.RLIMIT_NPROC, processes)
        run_when_others_rest()


def run_when_others_rest() -> None:
    """Take the processor only from processes that do the same, for good.

    The worker wakes up at once, however many processes its tasks have. Nobody can leave this policy
    without a privilege: https://man7.org/linux/man-pages/man7/sched.7.html
    """
    if sys.platform != "linux":
        return
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except PermissionError as refused:  # a platform's filter of system calls: niceness is left
        sys.stderr.write(f"the task runs with niceness {NICENESS} alone: {refused}\n")


def limit_hit_by(error: Exception) -> str | None:
    """The bound that an error comes from, in plain words."""
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
