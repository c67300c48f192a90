"""Killing what a child left behind, when that does not go smoothly."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from switchyard.adapters.system import system_sleep
from worker.descendants import kill, processes_below, reap

NEGLIGENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print(child.pid, flush=True); time.sleep(60)"
)


@pytest.fixture
def nobody_reaps() -> Iterator[psutil.Process]:
    """A process whose parent never asks what became of it."""
    parent = subprocess.Popen([sys.executable, "-c", NEGLIGENT], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        yield psutil.Process(int(parent.stdout.readline()))
        parent.kill()


def test_a_process_that_is_not_ours_to_kill_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, nobody_reaps: psutil.Process
) -> None:
    def denied(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    with monkeypatch.context() as patched:
        patched.setattr(psutil.Process, "kill", denied)
        patched.setattr(psutil.Process, "children", lambda process, recursive: denied(process))
        kill([nobody_reaps])
        assert processes_below(nobody_reaps.pid) == []
    kill([nobody_reaps])


def test_waiting_for_a_zombie_holds_nobody_up_and_has_an_end(nobody_reaps: psutil.Process) -> None:
    kill([nobody_reaps])

    async def longest_gap() -> float:
        gaps = [0.0]

        async def tick() -> None:
            while True:
                began = time.monotonic()
                await asyncio.sleep(0.01)
                gaps.append(time.monotonic() - began)

        ticking = asyncio.create_task(tick())
        await reap([nobody_reaps], sleep=system_sleep)
        ticking.cancel()
        return max(gaps)

    assert asyncio.run(longest_gap()) < 0.2
