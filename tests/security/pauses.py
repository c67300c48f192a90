"""Measures how long an event loop stands still, and how long the machine itself does."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TICK_SECONDS = 0.01


@dataclass(slots=True)
class Longest:
    """The longest pause, as it was and less its wait in the run queue, in seconds."""

    longest_raw: float = 0.0
    longest_less_queued: float = 0.0

    def add(self, raw: float, *, queued: float) -> None:
        self.longest_raw = max(self.longest_raw, raw)
        self.longest_less_queued = max(self.longest_less_queued, raw - queued)

    def longest_beside(self, control: float) -> float:
        """Return the longest pause; of its wait, subtract at most what a control process measured.

        Waits beyond those of a program that does nothing are the attack's doing.
        """
        return max(self.longest_less_queued, self.longest_raw - control)


class LoopPauses:
    """Measures how long the event loop did not turn."""

    def __init__(self) -> None:
        self._longest = Longest()

    def reset(self) -> None:
        self._longest = Longest()

    def measured(self) -> Longest:
        return self._longest

    async def watch(self) -> None:
        waiting = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        while True:
            began, queued = time.monotonic(), _queued_seconds(waiting)
            await asyncio.sleep(TICK_SECONDS)
            raw = time.monotonic() - began - TICK_SECONDS
            self._longest.add(raw, queued=_queued_seconds(waiting) - queued)


def _queued_seconds(schedstat: Path) -> float:
    """Return how long this thread could have run while others had the processors."""
    try:
        return int(schedstat.read_bytes().split()[1]) / 1e9
    except OSError:
        return 0.0


CONTROL = """
import select, sys, time
longest = 0.0
while True:
    began = time.monotonic()
    ended, _, _ = select.select([0], [], [], 0.01)
    if ended:
        break
    longest = max(longest, time.monotonic() - began - 0.01)
print(longest)
"""


@contextmanager
def control() -> Iterator[list[float]]:
    """Measure how long a program that does nothing pauses meanwhile: the machine's own doing."""
    found: list[float] = []
    with subprocess.Popen(
        [sys.executable, "-c", CONTROL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={},
        text=True,
    ) as process:
        try:
            yield found
        finally:
            found.append(float(process.communicate(timeout=30)[0]))
