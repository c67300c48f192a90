"""The worker's pulse, and who looks at it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from switchyard.adapters.system import SystemClock
from switchyard_worker.health import main
from switchyard_worker.parent.health.pulse import MISSED_MS, PULSE_FILE, has_pulse, keep_pulse

REPOSITORY = Path(__file__).parents[4]


class Enough(Exception):
    pass


def beat(folder: Path, *, times: int = 1, sick: str | None = None) -> None:
    left = times

    async def sleep(_: float) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Enough

    with pytest.raises(Enough):
        asyncio.run(keep_pulse(folder, sick=lambda: sick, sleep=sleep))


def look(folder: Path) -> int:
    return subprocess.run(
        [sys.executable, "-m", "switchyard_worker.health"],
        cwd=REPOSITORY,
        env={"OUTPUT_FOLDER": str(folder), "PYTHONPATH": "layers/shared/python"},
        check=False,
        timeout=30,
    ).returncode


def test_a_beating_worker_is_alive(tmp_path: Path) -> None:
    folder = tmp_path / "not made yet"
    beat(folder)
    assert look(folder) == 0


def test_a_worker_that_never_beat_is_not(tmp_path: Path) -> None:
    assert look(tmp_path) == 1


def test_a_worker_that_stopped_beating_is_not(tmp_path: Path) -> None:
    beat(tmp_path)
    then = SystemClock().now_ms() / 1000 - MISSED_MS / 1000
    os.utime(tmp_path / PULSE_FILE, (then, then))
    assert look(tmp_path) == 1
    beat(tmp_path)
    assert look(tmp_path) == 0


def test_a_pulse_is_missed_at_its_limit_and_not_before(tmp_path: Path) -> None:
    beat(tmp_path)
    os.utime(tmp_path / PULSE_FILE, (1000, 1000))
    assert has_pulse(tmp_path, now_ms=1_000_000 + MISSED_MS - 1)
    assert not has_pulse(tmp_path, now_ms=1_000_000 + MISSED_MS)


def test_a_folder_that_cannot_be_made_ends_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    beat(tmp_path / "file" / "folder", times=2)


def test_a_sick_worker_has_no_pulse_until_it_is_well(tmp_path: Path) -> None:
    beat(tmp_path)
    beat(tmp_path, sick="no space left")
    assert look(tmp_path) == 1
    beat(tmp_path)
    assert look(tmp_path) == 0


def test_a_pulse_is_not_enough_where_nothing_can_be_written(tmp_path: Path) -> None:
    beat(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_BYTES", 2**62)
        assert main(tmp_path, now_ms=SystemClock().now_ms()) == 1
    assert main(tmp_path, now_ms=SystemClock().now_ms()) == 0
