"""What the API says of itself."""

import tomllib
from pathlib import Path

from switchyard import VERSION
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.usecases.check_health import check_health
from tests.builders import TENANT

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_stage_and_the_version_are_told() -> None:
    health = check_health(TENANT, stage="dev", jobs=MemoryYard(ManualClock()).jobs)
    assert (health.status, health.stage, health.version) == ("ok", "dev", VERSION)


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads(PROJECT.read_text())["project"]["version"] == VERSION
