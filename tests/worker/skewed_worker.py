"""`python -m switchyard_worker` on a machine whose wall clock is wrong, in a fork of one process.

A file says by how many seconds the clock is ahead of the real time; writing another number in place
sets the clock while the worker runs. Timers are not affected, as on a real machine. Most of what a
worker's start costs is its imports, so one process has done them (`warm_worker`) and each worker
is a fork of it.
"""

import multiprocessing
import os
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

_time, _time_ns = time.time, time.time_ns
_clock: int | None = None
"""The open file of this process's clock."""

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.worker.warm_worker"])


def patch_wall_clock() -> None:
    """Patch the two functions by which Python code reads the wall clock."""
    time.time = lambda: _time() + _ahead_seconds()
    time.time_ns = lambda: _time_ns() + round(_ahead_seconds() * 1e9)


def _ahead_seconds() -> float:
    return 0.0 if _clock is None else float(os.pread(_clock, 100, 0))


def fork_worker(clock_file: Path, environment: dict[str, str], log: Path) -> BaseProcess:
    """Start a worker that has this environment and no other, and prints to that file."""
    worker = _forks.Process(target=_work, args=(clock_file, environment, log), daemon=False)
    worker.start()
    return worker


def _work(clock_file: Path, environment: dict[str, str], log: Path) -> None:
    global _clock  # noqa: PLW0603 - there is one clock in a process
    _clock = os.open(clock_file, os.O_RDONLY)  # held, for machines that have no descriptor left
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    from switchyard_worker.__main__ import leave, main  # noqa: PLC0415 - imported before the fork

    leave(main())
