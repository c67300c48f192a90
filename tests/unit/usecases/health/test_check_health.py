"""What the API says of itself."""

import re
import tomllib
from pathlib import Path

from switchyard import VERSION
from switchyard.testing.presence import MemoryPauseSwitch
from switchyard.usecases.health.check_health import check_health
from tests.builders import NOW_MS

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_the_answer_has_the_stage_and_the_version() -> None:
    health = check_health(stage="dev", pause_switch=MemoryPauseSwitch())
    assert (health.status, health.stage, health.version) == ("ok", "dev", VERSION)


def test_the_answer_has_the_pause() -> None:
    pause_switch = MemoryPauseSwitch()
    assert not check_health(stage="dev", pause_switch=pause_switch).paused
    pause_switch.pause(now_ms=NOW_MS)
    assert check_health(stage="dev", pause_switch=pause_switch).paused


def test_the_projects_version_is_read_from_here() -> None:
    source = tomllib.loads(PROJECT.read_text())["tool"]["hatch"]["version"]
    found = re.search(source["pattern"], (PROJECT.parent / source["path"]).read_text())
    assert found is not None
    assert found["version"] == VERSION
