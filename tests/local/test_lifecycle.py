"""A local cloud that never came up; what becomes of one that did is asked in `e2e`."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from switchyard_local.emulator.loopback import is_free
from tests.local.leftovers import left_below

START_SECONDS = 180
STOP_SECONDS = 30
UP = """
import sys
from pathlib import Path
from switchyard_local.cloud import LocalCloud
LocalCloud(Path(sys.argv[1]), port=int(sys.argv[2])).up(lambda line: print(line, flush=True))
"""


def wait_for_line(containing: str, process: subprocess.Popen[str]) -> None:
    """Raise if the process ends, or takes too long, without saying so."""
    assert process.stdout is not None
    overdue = threading.Timer(START_SECONDS, process.kill)
    overdue.start()
    try:
        said = next((line for line in process.stdout if containing in line), None)
    finally:
        overdue.cancel()
    assert said is not None, f"it never said {containing!r}"


@pytest.mark.long  # `test_interrupts.py` interrupts one, too
def test_an_interrupted_start_leaves_nothing_behind(tmp_path: Path, port: int) -> None:
    folder = tmp_path / "local cloud"
    with subprocess.Popen(
        [sys.executable, "-c", UP, str(folder), str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as starting:
        wait_for_line("Deploying", starting)
        starting.send_signal(signal.SIGINT)
        starting.wait(STOP_SECONDS)
    assert starting.returncode != 0
    assert left_below(folder) == []
    assert is_free(port)
