"""Ctrl-C at any moment of `up`, `run` and `make test`.

No traceback is printed, nothing is left running and nothing is half-saved. `make interrupts` tries
twenty moments of each, and of the commands of a running cloud.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from switchyard.clock import system_clock
from switchyard_local.private_file import read_private
from tests.local.free_port import free_port
from tests.local.interruptions import ASKED, Cloud, begun, interrupted, moments, shares
from tests.local.leftovers import left_below
from tests.local.test_run_suite import of_run, start, wait_until

STARTS = (["switchyard_local", "up"], ["switchyard_cli", "run", "brand-analysis"])

INTERRUPTED = 130
USUAL_SECONDS = 15
LONGEST_SECONDS = 600

pytestmark = pytest.mark.slow
only_when_asked = pytest.mark.skipif(
    ASKED not in os.environ, reason="test_run_suite.py interrupts a run too; `make interrupts`"
)


@pytest.fixture(scope="module")
def whole_seconds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Return how long each command takes, if many of its moments are asked for."""
    if ASKED not in os.environ:
        return {}
    found = {}
    for command in STARTS:
        place = tmp_path_factory.mktemp("whole")
        cloud = {"SWITCHYARD_FOLDER": str(place), "SWITCHYARD_PORT": str(free_port())}
        began = system_clock().monotonic()
        with begun(command, cloud, place) as process:
            said, _ = process.communicate(timeout=LONGEST_SECONDS)
        found[command[1]] = system_clock().monotonic() - began
        assert process.returncode == 0, said
        _down(cloud)
    return found


@pytest.mark.parametrize("share", shares())
@pytest.mark.parametrize("command", STARTS, ids=lambda command: str(command[1]))
def test_an_interruption_leaves_nothing_behind(
    command: list[str],
    share: float,
    whole_seconds: dict[str, float],
    tmp_path: Path,
    port: int,
) -> None:
    folder = tmp_path / "cloud"
    cloud = {"SWITCHYARD_FOLDER": str(folder), "SWITCHYARD_PORT": str(port)}
    with begun(command, cloud, tmp_path) as process:
        said = interrupted(process, share * whole_seconds.get(command[1], USUAL_SECONDS))
    if process.returncode == 0:  # it was faster
        _down(cloud)
    assert process.returncode in {0, INTERRUPTED, -signal.SIGINT}, said
    assert "Traceback" not in said
    assert left_below(folder) == []
    assert read_private(folder / "processes.json") == {}


@only_when_asked
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


def _down(cloud: Cloud) -> None:
    down = [sys.executable, "-m", "switchyard_local", "down"]
    subprocess.run(down, env=os.environ | cloud, check=True, capture_output=True)
