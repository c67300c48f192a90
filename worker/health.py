"""The worker's pulse: a file that is written as long as its event loop turns and it takes tasks.

`python -m worker.health` exits 0 if there is one, and if a file can be written and read back beside
it. A worker that hangs loses its leases, so nothing is lost; but its slots are, until it is
replaced.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from switchyard.clock import system_clock
from switchyard.ports import Sleep
from worker.probe import probe

PULSE_FILE: Final = ".pulse"
BEAT_SECONDS: Final = 10.0
MISSED_MS: Final = 60_000


async def keep_pulse(folder: Path, *, sick: Callable[[], str | None], sleep: Sleep) -> NoReturn:
    """Beat while the machine is well; remove the pulse of a sick one."""
    while True:
        _beat(folder, sick=sick() is not None)
        await sleep(BEAT_SECONDS)


def has_pulse(folder: Path, *, now_ms: int) -> bool:
    try:
        touched_ms = (folder / PULSE_FILE).stat().st_mtime * 1000
    except OSError:
        return False
    return now_ms - touched_ms < MISSED_MS


def _beat(folder: Path, *, sick: bool) -> None:
    with contextlib.suppress(OSError):  # no folder to write to is no health either
        if sick:
            (folder / PULSE_FILE).unlink(missing_ok=True)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / PULSE_FILE).touch()


def main(folder: Path, *, now_ms: int) -> int:
    if not has_pulse(folder, now_ms=now_ms):
        print("the worker has no pulse: it hangs, or takes no tasks", file=sys.stderr)  # noqa: T201
        return 1
    problem = probe(folder)
    if problem:
        print(f"the worker's machine is sick: {problem}", file=sys.stderr)  # noqa: T201
    return 1 if problem else 0


if __name__ == "__main__":
    output_folder = Path(os.environ.get("OUTPUT_FOLDER", ".output"))
    sys.exit(main(output_folder, now_ms=system_clock().now_ms()))
