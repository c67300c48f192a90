"""Settings of one tenant, made by operators: its Slack channels, and who may press buttons.

Nothing is allowed to a tenant without settings: its jobs may name no channel, and of its jobs only
the stage's own operators press buttons.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.jobs.notify import problem_with_channel

ANY: Final = "*"
"""The entry that stands for every channel of the bot, or for everybody who sees the button."""
SLACK_USER: Final = re.compile(r"[UW][A-Z0-9]{1,30}")
MAX_LISTED: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    slack_channels: tuple[str, ...] = ()
    """The channels in which its jobs may post, each by its name or its id, as jobs name it."""
    slack_operators: tuple[str, ...] = ()
    """The ids of the Slack users who may press buttons on its incidents."""

    def allows_channel(self, channel: str) -> bool:
        return channel in self.slack_channels or ANY in self.slack_channels


NO_SETTINGS: Final = TenantSettings()


def channel_problems(channel: str, settings: TenantSettings, *, tenant: str) -> list[Problem]:
    """Say which channels a job of the tenant may name, if this one is not among them."""
    if settings.allows_channel(channel):
        return []
    allowed = ", ".join(settings.slack_channels) or "none"
    message = (
        f"{channel} is not one of the channels that jobs of {tenant} may name ({allowed}); an"
        f" operator of the stage adds it with `switchyard tenants set {tenant} --channel`"
    )
    return [Problem(("notify", "channel"), message)]


def may_press(user: str, *, stage_operators: Collection[str], settings: TenantSettings) -> bool:
    """Whether a Slack user may press a button on an incident of the tenant."""
    listed = {*stage_operators, *settings.slack_operators}
    return user in listed or ANY in listed


def problem_with_channels(names: Sequence[str]) -> str | None:
    for name in names:
        problem = problem_with_channel(name) if name != ANY else None
        if problem:
            return f"the channel {name!r} {problem}"
    return _problem_with_count(names, "channels")


def problem_with_operators(ids: Sequence[str]) -> str | None:
    for user in ids:
        if user != ANY and not SLACK_USER.fullmatch(user):
            return f"the operator {user!r} must be a Slack user's id like U0123456789"
    return _problem_with_count(ids, "operators")


def _problem_with_count(listed: Sequence[str], what: str) -> str | None:
    return f"at most {MAX_LISTED} {what} can be listed" if len(listed) > MAX_LISTED else None
