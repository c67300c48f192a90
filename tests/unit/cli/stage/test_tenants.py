"""`tenants`: what operators allow each tenant."""

import json

import pytest

from switchyard.domain.access.tenants import TenantSettings
from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.triggers import FakeTriggers


def test_what_is_set_is_shown(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    result = switchyard(
        *("tenants", "set", "acme", "--stage", "dev"),
        *("--channel", "#brand", "--channel", "C0123456", "--channel", "#brand"),
        *("--operator", "U0123"),
    )

    shown = [
        "acme",
        "  Weight           1",
        "  Slack channels   #brand, C0123456",
        "  Slack operators  U0123",
    ]
    assert result.stdout.splitlines() == shown
    assert switchyard("tenants", "show", "acme", "--stage", "dev").stdout.splitlines() == shown
    assert triggers.asked[0] == ("dev", None)


def test_a_tenant_without_settings_is_told_what_that_means(switchyard: Switchyard) -> None:
    result = switchyard("tenants", "show", "acme")

    assert "none: its jobs may name no channel" in result.stdout
    assert "none: only the stage's operators press buttons" in result.stdout


def test_what_is_not_given_stays_and_lists_can_be_emptied(
    switchyard: Switchyard, triggers: FakeTriggers
) -> None:
    switchyard("tenants", "set", "acme", "--channel", "#brand", "--operator", "U0123")

    switchyard("tenants", "set", "acme", "--clear-channels")

    assert triggers.tenant_store.find("acme") == TenantSettings(slack_operators=("U0123",))
    switchyard("tenants", "set", "acme", "--clear-operators")
    assert triggers.tenant_store.find("acme") == TenantSettings()


def test_tenants_are_listed(switchyard: Switchyard) -> None:
    assert switchyard("tenants", "list").stdout == "Nothing is set for any tenant.\n"
    switchyard("tenants", "set", "zeta", "--channel", "#z")
    switchyard("tenants", "set", "acme", "--operator", "U0123")

    _, first, second = switchyard("tenants", "list").stdout.splitlines()
    assert first.split() == ["acme", "none", "U0123"]
    assert second.split() == ["zeta", "#z"]
    assert json.loads(switchyard("tenants", "list", "--json").stdout)[0] == {
        "tenant": "acme",
        "weight": 1.0,
        "slackChannels": [],
        "slackOperators": ["U0123"],
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Nothing was given to set"),
        (["--channel", "brand"], "The channel 'brand' must be #name"),
        (["--operator", "@ada"], "The operator '@ada' must be a Slack user's id"),
        (["--channel", "#a", "--clear-channels"], "Give either --channel or --clear-channels"),
    ],
)
def test_what_cannot_be_set(
    options: list[str], said: str, switchyard: Switchyard, triggers: FakeTriggers
) -> None:
    result = switchyard("tenants", "set", "acme", *options)

    assert said in result.stderr
    assert result.exit_code == 2
    assert triggers.tenant_store.all() == {}


@pytest.mark.parametrize("command", [("show",), ("set", "--channel", "#a")])
def test_a_name_that_no_tenant_can_have(command: tuple[str, ...], switchyard: Switchyard) -> None:
    result = switchyard("tenants", command[0], "Acme Inc", *command[1:])

    assert "must be 1 to 63 of a-z" in result.stderr
    assert result.exit_code == 2


def test_a_stage_that_is_out_of_reach(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    triggers.outage = Unavailable("You must specify a region.")

    result = switchyard("tenants", "list", "--stage", "dev")

    assert result.stderr.startswith("The tenants of the stage dev are out of reach")
    assert result.exit_code == 3


def test_a_tenants_share_of_the_workers_is_set(
    switchyard: Switchyard, triggers: FakeTriggers
) -> None:
    result = switchyard("tenants", "weigh", "acme", "2.5")

    assert "Weight           2.5" in result.stdout
    (acme,) = triggers.tenant_clocks.of_group("default").tenants
    assert (acme.tenant, acme.weight, acme.marked_at_ms) == ("acme", 2.5, None)


def test_a_weight_that_would_stop_others_is_refused(
    switchyard: Switchyard, triggers: FakeTriggers
) -> None:
    result = switchyard("tenants", "weigh", "acme", "0")

    assert result.exit_code != 0
    assert "Weight: 0 is not between 0.01 and 100" in result.stderr
    assert triggers.tenant_clocks.of_group("default").tenants == ()
