"""`scenarios`: what is asked for, and how it ends; they themselves are tested elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from switchyard_scenarios import run as running
from switchyard_scenarios.run import Wanted
from switchyard_scenarios.scenario import NAMES
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Wanted]:
    asked: list[Wanted] = []

    def run(wanted: Wanted, _: FakeCloud, **__: Any) -> int:
        asked.append(wanted)
        return 1 if "crash-mid-processing" in wanted.names else 0

    monkeypatch.setattr(running, "run", run)
    return asked


def test_all_run_in_the_local_cloud_unless_somebody_says_else(
    switchyard: Switchyard, asked: list[Wanted]
) -> None:
    assert switchyard("scenarios").exit_code == 0
    assert asked == [Wanted()]


def test_every_option_is_passed_on(switchyard: Switchyard, asked: list[Wanted]) -> None:
    options = ("--stage", "dev", "--at-once", "2", "--keep", "--json", "--report", "r.html")
    role = ("--function-role", "arn:role")
    result = switchyard("scenarios", "happy-path", "crash-mid-processing", *options, *role)
    assert result.exit_code == 1
    assert asked == [
        Wanted(
            names=["happy-path", "crash-mid-processing"],
            stage="dev",
            at_once=2,
            keep=True,
            as_json=True,
            report=Path("r.html"),
            function_role="arn:role",
        )
    ]


def test_prod_is_spared(switchyard: Switchyard) -> None:
    result = switchyard("scenarios", "happy-path", "--stage", "prod")
    assert result.exit_code == 2
    assert "prod is spared" in result.stderr


def test_an_unknown_scenario_is_answered_with_those_that_there_are(
    switchyard: Switchyard,
) -> None:
    result = switchyard("scenarios", "sunshine")
    assert result.exit_code == 2
    assert "There is no scenario sunshine." in result.stderr
    assert "happy-path" in result.stderr


def test_the_list_tells_what_each_shows(switchyard: Switchyard) -> None:
    result = switchyard("scenarios", "--list")
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(NAMES)
    assert all(len(line.split()) > 5 for line in result.stdout.splitlines())
