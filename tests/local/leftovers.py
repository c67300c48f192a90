"""Processes that work for a local cloud, or still do."""

from pathlib import Path

import psutil

from switchyard.clock import system_clock

GONE_SECONDS = 5


def processes_below(folder: Path) -> list[str]:
    """Everything of ours names the folder in its arguments or environment, or works in it."""
    return [
        f"{process.pid} {' '.join(process.info['cmdline'] or [])}"
        for process in psutil.process_iter(["cmdline", "cwd", "environ"])
        if any(str(folder) in place for place in _places_of(process))
    ]


def left_below(folder: Path) -> list[str]:
    """What is still there when everything that was killed has had the time to be gone."""
    clock = system_clock()
    deadline = clock.monotonic() + GONE_SECONDS
    while (left := processes_below(folder)) and clock.monotonic() < deadline:
        clock.sleep(0.05)
    return left


def _places_of(process: psutil.Process) -> list[str]:
    facts = process.info
    output = (facts["environ"] or {}).get("OUTPUT_FOLDER", "")
    return [*(facts["cmdline"] or []), facts["cwd"] or "", output]
