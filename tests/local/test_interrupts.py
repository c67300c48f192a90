"""Ctrl-C at any moment of `up` and `run`: no traceback, and nothing is left running.

`make interrupts` tries twenty moments.
"""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from switchyard_local.private_file import read_private
from tests.local.leftovers import left_below

PATIENCE_SECONDS = 120
MOMENTS = int(os.environ.get("INTERRUPTS", "3"))
CHOICE = random.Random(MOMENTS)
COMMANDS = (["switchyard_local", "up"], ["switchyard_cli", "run", "brand-analysis"])

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("moment", [CHOICE.uniform(0, 15) for _ in range(MOMENTS)])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[1]))
def test_an_interruption_leaves_nothing_behind(
    command: list[str], moment: float, tmp_path: Path, port: int
) -> None:
    folder = tmp_path / "cloud"
    environment = {"SWITCHYARD_FOLDER": str(folder), "SWITCHYARD_PORT": str(port)}
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=tmp_path,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode == 0:  # it was faster
        down = [sys.executable, "-m", "switchyard_local", "down"]
        subprocess.run(down, env=os.environ | environment, check=True, capture_output=True)
    assert "Traceback" not in said
    assert left_below(folder) == []
    assert read_private(folder / "processes.json") == {}
