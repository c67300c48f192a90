"""Which channels a tenant's jobs may name, and who may press its buttons."""

import pytest

from switchyard.domain.access.tenants import (
    TenantSettings,
    channel_problems,
    may_press,
    problem_with_channels,
    problem_with_operators,
)


def test_a_channel_that_is_not_listed_is_refused_with_what_is_allowed_and_who_can_change_it() -> (
    None
):
    settings = TenantSettings(slack_channels=("#brand", "C0123456"))
    (problem,) = channel_problems("#ops", settings, tenant="acme")
    assert problem.path == ("notify", "channel")
    assert "#ops is not one of the channels that jobs of acme may name (#brand, C0123456)" in str(
        problem
    )
    assert "switchyard tenants set acme --channel" in problem.message


@pytest.mark.parametrize("listed", [("#ops",), ("#brand", "#ops"), ("*",)])
def test_a_listed_channel_is_allowed(listed: tuple[str, ...]) -> None:
    settings = TenantSettings(slack_channels=listed)
    assert channel_problems("#ops", settings, tenant="acme") == []


def test_without_settings_no_channel_is_allowed() -> None:
    (problem,) = channel_problems("#ops", TenantSettings(), tenant="acme")
    assert "may name (none)" in problem.message


@pytest.mark.parametrize(
    ("stage", "tenant", "allowed"),
    [
        ((), (), False),
        (("U2",), ("U3",), False),
        (("U1",), (), True),
        ((), ("U1",), True),
        (("*",), (), True),
        ((), ("*",), True),
    ],
)
def test_who_is_listed_for_the_stage_or_the_tenant_may_press(
    stage: tuple[str, ...], tenant: tuple[str, ...], *, allowed: bool
) -> None:
    settings = TenantSettings(slack_operators=tenant)
    assert may_press("U1", stage_operators=stage, settings=settings) is allowed


@pytest.mark.parametrize("name", ["ops", "#Ops", "", "#a b", "D0123456", "**"])
def test_what_is_no_channel_cannot_be_listed(name: str) -> None:
    assert "must be #name" in str(problem_with_channels(["#fine", name]))


@pytest.mark.parametrize("user", ["ada", "@ada", "", "U", "u0123", "U012 3", "C0123456"])
def test_what_is_no_user_cannot_be_listed(user: str) -> None:
    assert "must be a Slack user's id" in str(problem_with_operators(["U0123", user]))


def test_lists_are_short() -> None:
    assert problem_with_channels([f"#c{number}" for number in range(100)]) is None
    assert problem_with_channels([f"#c{number}" for number in range(101)])
    assert problem_with_operators([f"U{number}" for number in range(101)])
