"""Ctrl-C at any moment of `up`, `run`, `make test` and five commands of a running cloud.

No traceback is printed, nothing is left running and nothing is half-saved. `make interrupts` tries
twenty moments of each.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from switchyard.clock import system_clock
from switchyard_local.private_file import read_private
from tests.local.free_port import free_port
from tests.local.leftovers import left_below
from tests.local.test_run_suite import of_run, start, wait_until

PATIENCE_SECONDS = 120
MOMENTS = int(os.environ.get("INTERRUPTS", "1"))
CHOICE = random.Random(MOMENTS)
INTERRUPTED = 130
STARTED_SECONDS = 0.3
"""Before that, Python itself may not have come to the first line of ours."""
JOB = str(Path(__file__).parents[2] / "examples" / "pull-request-review.yaml")
STARTS = (["switchyard_local", "up"], ["switchyard_cli", "run", "brand-analysis"])
COMMANDS = (
    ["jobs"],
    ["submit", JOB, "--watch"],
    ["events", "--follow"],
    ["metrics", "--watch"],
    ["doctor"],
)
Cloud = dict[str, str]

pytestmark = pytest.mark.slow


def moments(longest_seconds: float, *, first: float = 0.0) -> list[float]:
    return [CHOICE.uniform(first, longest_seconds) for _ in range(MOMENTS)]


def interrupted(process: subprocess.Popen[str], moment: float) -> str:
    """Press Ctrl-C, unless the process ended before; return what it printed."""
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return said


def begun(command: list[str], cloud: Cloud, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=os.environ | cloud,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def complete(cloud: Cloud, *command: str) -> str:
    run = [sys.executable, "-m", *command]
    return subprocess.run(
        run, env=os.environ | cloud, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("moment", moments(15))
@pytest.mark.parametrize("command", STARTS, ids=lambda command: str(command[1]))
def test_an_interruption_leaves_nothing_behind(
    command: list[str], moment: float, tmp_path: Path, port: int
) -> None:
    folder = tmp_path / "cloud"
    cloud = {"SWITCHYARD_FOLDER": str(folder), "SWITCHYARD_PORT": str(port)}
    with begun(command, cloud, tmp_path) as process:
        said = interrupted(process, moment)
    if process.returncode == 0:  # it was faster
        complete(cloud, "switchyard_local", "down")
    assert "Traceback" not in said
    assert left_below(folder) == []
    assert read_private(folder / "processes.json") == {}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Start a cloud for all commands; each has to leave it as it was."""
    folder = tmp_path_factory.mktemp("interrupted") / "cloud"
    cloud = {"SWITCHYARD_FOLDER": str(folder), "SWITCHYARD_PORT": str(free_port())}
    complete(cloud, "switchyard_local", "up")
    try:
        yield cloud
    finally:
        complete(cloud, "switchyard_local", "down")
    assert left_below(folder) == []


@pytest.mark.parametrize("moment", moments(3, first=STARTED_SECONDS))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_an_interrupted_command_leaves_the_cloud_as_it_was(
    command: list[str], moment: float, running: Cloud, tmp_path: Path
) -> None:
    files = Path(running["SWITCHYARD_FOLDER"]).glob("*.json")
    before = {file: read_private(file) for file in files}
    with begun(["switchyard_cli", *command], running, tmp_path) as process:
        family = [psutil.Process(process.pid)]
        said = interrupted(process, moment)
    assert "Traceback" not in said
    assert process.returncode in {0, INTERRUPTED}, said
    assert of_run(family) == []
    assert left_below(tmp_path) == []
    assert {file: read_private(file) for file in before} == before
    json.loads(complete(running, "switchyard_cli", "jobs", "--json"))


@pytest.mark.parametrize("moment", moments(12))
def test_an_interrupted_test_run_leaves_nothing_behind(moment: float, tmp_path: Path) -> None:
    with start(tmp_path) as process:
        system_clock().sleep(moment)
        family = psutil.Process(process.pid).children(recursive=True)
        said = interrupted(process, 0)
    assert process.returncode != 0
    assert "Traceback" not in said
    wait_until(lambda: not of_run(family))
    assert left_below(tmp_path) == []
