"""`pause` and `resume`: a brake with a reason."""

import json

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Pause
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import NOW_MS, FakeCloud
from tests.unit.cli.fakes.stage import FakePauseSwitch


def test_a_pause_says_since_when_why_and_how_to_go_on(
    switchyard: Switchyard, pause_switch: FakePauseSwitch
) -> None:
    result = switchyard("pause", "--reason", "the model \x1b[31mis down", "--stage", "dev")

    assert result.stdout == "Paused since 2027-01-15 08:00 UTC (the model [31mis down).\n"
    assert result.stderr == "Go on with `switchyard resume --stage dev`.\n"
    assert pause_switch.pause_switch.paused() == Pause(
        since_ms=NOW_MS, reason="the model \x1b[31mis down"
    )
    assert pause_switch.asked == [("dev", None)]


def test_a_second_pause_tells_of_the_first(
    switchyard: Switchyard, pause_switch: FakePauseSwitch
) -> None:
    pause_switch.pause_switch.pause(now_ms=NOW_MS - 3_600_000, reason="costs")

    state = json.loads(switchyard("pause", "--json").stdout)

    assert state == {
        "stage": "local",
        "paused": True,
        "since": "2027-01-15T07:00:00Z",
        "reason": "costs",
    }
    again = switchyard("pause", "--reason", "another")
    assert again.stdout == "Paused since 2027-01-15 07:00 UTC (costs).\n"
    assert again.stderr.startswith("It was paused already: that stays as it was. Go on with")


def test_a_reason_is_short(switchyard: Switchyard, pause_switch: FakePauseSwitch) -> None:
    result = switchyard("pause", "--reason", "x" * 201)

    assert (result.stderr, result.exit_code) == ("A reason has at most 200 characters.\n", 2)
    assert pause_switch.pause_switch.paused() is None


def test_resume_takes_it_back(switchyard: Switchyard, pause_switch: FakePauseSwitch) -> None:
    pause_switch.pause_switch.pause(now_ms=NOW_MS)

    assert switchyard("resume").stdout == "Workers take tasks again.\n"
    assert pause_switch.pause_switch.paused() is None
    assert json.loads(switchyard("resume", "--json").stdout)["paused"] is False
    assert pause_switch.asked[0] == ("local", "http://127.0.0.1:4580")


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_a_stage_that_is_out_of_reach(
    command: str, switchyard: Switchyard, pause_switch: FakePauseSwitch
) -> None:
    pause_switch.outage = Unavailable("You must specify a region.")

    result = switchyard(command, "--stage", "prod")

    assert result.stderr.startswith("The pause switch of the stage prod is out of reach: You must")
    assert result.exit_code == 3


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    assert switchyard("pause").exit_code == 3


def test_a_part_is_paused_and_resumed(
    switchyard: Switchyard, pause_switch: FakePauseSwitch
) -> None:
    paused = switchyard("pause", "--queue", "research/deep")
    switchyard("pause", "--tenant", "acme")

    assert paused.stdout == "Paused: queue:research/deep.\n"
    assert pause_switch.pause_switch.paused() is None
    assert pause_switch.pause_switch.paused_parts() == {"queue:research/deep", "tenant:acme"}
    resumed = json.loads(switchyard("resume", "--queue", "research/deep", "--json").stdout)
    assert resumed == {"stage": "local", "paused": ["tenant:acme"]}
    assert switchyard("resume", "--tenant", "acme").stdout == (
        "No queue, definition or tenant is paused.\n"
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--queue", "a", "--tenant", "b"), "Give one of --queue, --definition and --tenant"),
        (("--queue", "a", "--reason", "b"), "A reason is kept for a pause of the whole stage"),
        (("--definition", ""), "a name has 1 to 200 printable characters"),
    ],
)
def test_what_cannot_be_paused_is_said(
    switchyard: Switchyard, options: tuple[str, ...], problem: str
) -> None:
    result = switchyard("pause", *options)

    assert result.exit_code != 0
    assert problem in result.stderr
