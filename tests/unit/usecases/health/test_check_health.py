"""What the API says of itself."""

import tomllib
from pathlib import Path

from switchyard import VERSION
from switchyard.adapters.memory.consumption import MemoryConsumption
from switchyard.usecases.health.check_health import check_health
from tests.builders import NOW_MS

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_the_stage_and_the_version_are_told() -> None:
    health = check_health(stage="dev", consumption=MemoryConsumption())
    assert (health.status, health.stage, health.version) == ("ok", "dev", VERSION)


def test_a_pause_is_told() -> None:
    consumption = MemoryConsumption()
    assert not check_health(stage="dev", consumption=consumption).paused
    consumption.pause(now_ms=NOW_MS)
    assert check_health(stage="dev", consumption=consumption).paused


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads(PROJECT.read_text())["project"]["version"] == VERSION
