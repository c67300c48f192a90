"""Bounds on the child and on all that it starts, set by itself before anything else."""

import errno
import resource
from typing import Final

MEGABYTE: Final = 1024 * 1024
MAX_FILE_MB: Final = 100


def limit_resources(*, memory_mb: int | None, file_mb: int) -> None:
    """Each process below inherits them, and none can lift them.

    Memory is what a process may write to (`RLIMIT_DATA`): agents reserve far more addresses than
    they ever use, so a bound on those would hit the innocent.
    """
    _limit(resource.RLIMIT_CORE, 0)  # a dump would hold the credential
    _limit(resource.RLIMIT_FSIZE, file_mb * MEGABYTE)
    if memory_mb is not None:
        _limit(resource.RLIMIT_DATA, memory_mb * MEGABYTE)


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
