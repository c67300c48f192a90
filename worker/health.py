"""The worker's pulse: a file that is touched as long as its event loop turns.

`python -m worker.health` exits 0 if there is one. A worker that hangs loses its leases, so nothing
is lost; but its slots are, until somebody replaces it.
"""

import contextlib
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from switchyard.clock import system_clock
from switchyard.ports import Sleep

PULSE_FILE: Final = ".pulse"
BEAT_SECONDS: Final = 10.0
MISSED_MS: Final = 60_000


async def keep_pulse(folder: Path, *, sleep: Sleep) -> NoReturn:
    while True:
        _beat(folder)
        await sleep(BEAT_SECONDS)


def has_pulse(folder: Path, *, now_ms: int) -> bool:
    try:
        touched_ms = (folder / PULSE_FILE).stat().st_mtime * 1000
    except OSError:
        return False
    return now_ms - touched_ms < MISSED_MS


def _beat(folder: Path) -> None:
    with contextlib.suppress(OSError):  # no folder to write to is no health either
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PULSE_FILE).touch()


if __name__ == "__main__":
    output_folder = Path(os.environ.get("OUTPUT_FOLDER", ".output"))
    sys.exit(0 if has_pulse(output_folder, now_ms=system_clock().now_ms()) else 1)
