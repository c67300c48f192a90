"""Runs pytest, and ends everything that it started: `python -m tests.run_suite -n 4`.

The local clouds and workers of tests have sessions of their own, so that a Ctrl-C at the terminal
reaches pytest alone; one that comes while fixtures are being torn down would leave them running.
"""

import _signal  # type: ignore[import-not-found] # `signal` imports `enum`: a traceback on Ctrl-C

if __name__ == "__main__":  # until there is something to end, Ctrl-C ends it without a traceback
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

from switchyard_local.deployment.assembly import SHARED_VARIABLE
from switchyard_worker.boundary import become_subreaper

MARK = "SWITCHYARD_TEST_RUN"
"""The variable that names a run in the environment of everything that it starts."""
PYTEST = """
import _signal
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})
import sys, pytest
sys.exit(pytest.main())
"""
"""The program of `python -m pytest`, without a traceback on an early Ctrl-C.

It is started with SIGINT blocked, because Python itself prints one as well.
"""
PLUGINS = ("-p", "tests.interruptible")
UNUSED_PLUGINS = ("-p", "no:schemathesis", "-p", "no:anyio", "-p", "no:typeguard")
"""Plugins of installed packages that each process would import; one test imports what it needs."""
INTERRUPTED = 130
ENOUGH_INTERRUPTS = 2
CLEANUP_ROUNDS = 50
LAST_DURATION = Path(".pytest_cache/last-complete-run-seconds")
ADVICE = "`make quick` takes less than one. Ctrl-C stops the tests in order, a second one at once."


def main(arguments: list[str]) -> int:
    """Run pytest; `arguments` are those that every run of all tests has, and perhaps others."""
    is_complete = not set(arguments) - {"-n", "--no-loadscope-reorder", *map(str, range(1000))}
    if is_complete:
        print(expected_duration(LAST_DURATION), flush=True)  # noqa: T201
    began = time.monotonic()
    code = run(arguments)
    if is_complete and code == 0:
        LAST_DURATION.parent.mkdir(exist_ok=True)
        LAST_DURATION.write_text(f"{time.monotonic() - began:.0f}")
    return code


def expected_duration(last: Path) -> str:
    """Say how long the tests take, by the last complete run in this folder."""
    if not last.exists():
        return f"All tests take several minutes, about ten on two cores; {ADVICE}"
    minutes = max(1, round(int(last.read_text()) / 60))
    return f"The last run of all tests took about {minutes} min; {ADVICE}"


def run(arguments: list[str]) -> int:
    become_subreaper()
    mark = uuid.uuid4().hex
    interrupts: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, note)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as assemblies:
        process = _started(arguments, {MARK: mark, SHARED_VARIABLE: assemblies})
        try:
            return _wait(process, lambda: _is_enough(interrupts))
        finally:
            end_all(mark)


def _started(arguments: list[str], variables: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PYTEST, *PLUGINS, *UNUSED_PLUGINS, *arguments]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, env=os.environ | variables)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _wait(process: subprocess.Popen[bytes], enough: Callable[[], bool]) -> int:
    """Return the exit code of pytest; the terminal sends it the same Ctrl-C as this process."""
    while not enough():
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(0.1)
            return INTERRUPTED if code == -signal.SIGINT else code
    return INTERRUPTED


def _is_enough(interrupts: list[int]) -> bool:
    """SIGTERM and a closed terminal do not reach pytest, and so end the run at once."""
    return len(interrupts) >= ENOUGH_INTERRUPTS or any(n != signal.SIGINT for n in interrupts)


def end_all(mark: str) -> None:
    """Kill until nothing of the run is left: what is killed may just have started another."""
    for _ in range(CLEANUP_ROUNDS):
        left = {*psutil.Process().children(recursive=True), *_marked(mark)}
        if not left:
            return
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=5)


def _marked(mark: str) -> list[psutil.Process]:
    """Return what runs in the environment of the run: where orphans do not become our children."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
