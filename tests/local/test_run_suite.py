"""Ctrl-C twice in the middle of `make test`: nothing of it is left running."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from switchyard.clock import system_clock
from tests.local.leftovers import left_below
from tests.run_suite import expected_duration

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
SECONDS_BETWEEN = 0.3  # fixtures are being torn down when the second one comes
SLICE = """
import os
import sys
import time
from pathlib import Path

import pytest

from switchyard_local.processes.process import start_detached
from tests.contract.clouds import on_ministack

FOLDER = Path({folder!r})


@pytest.fixture
def cloud(tmp_path):
    folder = FOLDER / tmp_path.name
    with on_ministack(folder) as cloud:
        waits = [sys.executable, "-c", "import time; time.sleep(600)"]
        start_detached(waits, cwd=folder, environment=os.environ, log=folder / "log")
        yield cloud  # what is detached stays: as if its teardown had been interrupted


@pytest.mark.parametrize("turn", range(2))
def test_that_takes_long(cloud, turn):
    (FOLDER / f"started-{{turn}}").touch()
    time.sleep(600)
"""


def start(folder: Path) -> subprocess.Popen[str]:
    """Start `make test`, as a shell would, with two tests that have a cloud each."""
    tests = folder / "test_slice.py"
    tests.write_text(SLICE.format(folder=str(folder)))
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    return subprocess.Popen(
        ["make", "test", "PROCESSES=2", f"ARGS=-c pyproject.toml --rootdir . --dist=load {tests}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until(reached: Callable[[], bool]) -> None:
    clock = system_clock()
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert clock.monotonic() < deadline
        clock.sleep(0.05)


def of_run(family: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in family if process.is_running() and process.status() != "zombie"]


@pytest.mark.long
def test_two_interruptions_leave_nothing_behind(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        wait_until(lambda: len(list(tmp_path.glob("started-*"))) == 2)
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        system_clock().sleep(SECONDS_BETWEEN)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode != 0
    wait_until(lambda: not of_run(family))
    assert left_below(tmp_path) == []


@pytest.mark.long
def test_a_terminated_run_leaves_nothing_behind(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        wait_until(lambda: len(list(tmp_path.glob("started-*"))) == 2)
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)
    assert left_below(tmp_path) == []


def test_the_expected_duration_is_that_of_the_last_complete_run(tmp_path: Path) -> None:
    last = tmp_path / "seconds"
    assert "several minutes" in expected_duration(last)
    last.write_text("437")
    assert "took about 7 min" in expected_duration(last)


STARTS_INTERRUPTED = """
import os, signal, sys
if {part!r} in "".join(sys.orig_argv):  # as at a terminal, which interrupts its parent as well
    os.kill(os.getppid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", ["pytest.main", "stdin.readline"], ids=["pytest", "worker"])
def test_an_interruption_while_python_starts_prints_no_traceback(part: str, tmp_path: Path) -> None:
    """The part of its command names the process that is interrupted by its first import."""
    (tmp_path / "sitecustomize.py").write_text(STARTS_INTERRUPTED.format(part=part))
    (tmp_path / "test_slice.py").write_text("def test_that_is_run():\n    pass\n")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.run_suite", "-n", "1", "-c", "pyproject.toml", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )

    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.returncode != 0
