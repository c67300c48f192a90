"""docs/scenarios.md names every scenario and every switch that there is."""

from pathlib import Path

import pytest

from switchyard_scenarios.scenario import NAMES
from switchyard_scenarios.switched.switches import CrashPoint, WorkerSwitches

DOCUMENT = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_has_a_row(name: str) -> None:
    assert f"| `{name}` |" in DOCUMENT


@pytest.mark.parametrize("switch", [*map(str.upper, WorkerSwitches.model_fields), *CrashPoint])
def test_a_switch_is_explained(switch: str) -> None:
    assert f"`{switch}`" in DOCUMENT
