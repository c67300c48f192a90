"""Commands as processes of their own, and Ctrl-C at a moment of them."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

PATIENCE_SECONDS: Final = 120
ASKED: Final = "INTERRUPTS"
"""The variable that `make interrupts` sets to the number of moments."""
MOMENTS: Final = int(os.environ.get(ASKED, "1"))
SEED: Final = 4
"""With it, one moment alone is after the imports of a command, and while a start deploys."""

Cloud = dict[str, str]
"""The variables that name a local cloud to a command."""


def moments(longest_seconds: float, *, first: float = 0.0) -> list[float]:
    """Choose the same ones in each process of a test run."""
    choice = random.Random(SEED)
    return [choice.uniform(first, longest_seconds) for _ in range(MOMENTS)]


def shares() -> list[float]:
    """Choose moments as parts of the whole time that a command takes."""
    return moments(1)


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


def interrupted(process: subprocess.Popen[str], moment: float) -> str:
    """Press Ctrl-C, unless the process ended before; return what it printed."""
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return said
