"""What is remembered of an incident that people were told of, and what is to be told of it next."""

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.tasks.task import milliseconds

LEASE: Final = milliseconds(timedelta(seconds=60))
"""Longer than any function that tells may run."""
REMEMBERED: Final = milliseconds(timedelta(days=30))
"""After it was over."""
AFTER_REFUSAL: Final = milliseconds(timedelta(minutes=10))
"""A person has to mend something first."""
GIVEN_UP_AFTER: Final = milliseconds(timedelta(days=1))
"""If the chat refuses, and nobody mends it."""

_CHANNEL_MARK: Final = "@"
_HALF_WAY: Final = "~"


def book_key(incident: Incident) -> str:
    """Each channel has messages of its own about one subject."""
    if incident.channel is None:
        return incident.subject
    return f"{incident.subject}{_CHANNEL_MARK}{incident.channel}"


def subject_in(key: str) -> str:
    return key.partition(_CHANNEL_MARK)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    key: str
    fence: int = 0
    """Counts those who took it."""
    asks: int = 0
    """Counts those who had to leave it to another."""
    fingerprint: str = ""
    """Of what was last told in full."""
    open: bool = False
    """Whether people believe that it is going on."""
    opened_at_ms: int = 0
    channel: str = ""
    pages: tuple[str, ...] = ()
    """The `ts` of each message that was posted: the first is the incident's."""
    trying_since_ms: int | None = None
    """Since when there may be messages that nobody knows of."""
    postponed_since_ms: int | None = None
    tried: str = ""
    """The state that a webhook was told in vain, as far as anybody knows."""
    wait_until_ms: int = 0
    due_at_ms: int | None = None
    """When to look at it again."""
    lease_until_ms: int = 0
    forget_at_ms: int | None = None

    @property
    def unsure(self) -> bool:
        return self.trying_since_ms is not None

    def begun(self, *, now_ms: int) -> "Alert":
        """As it is when somebody takes it; what a crash leaves behind."""
        since = now_ms if self.trying_since_ms is None else self.trying_since_ms
        earlier = (
            self
            if self.open
            else replace(self, opened_at_ms=since, fingerprint="", channel="", pages=())
        )
        return replace(
            earlier,
            fence=self.fence + 1,
            trying_since_ms=since,
            lease_until_ms=now_ms + LEASE,
            due_at_ms=now_ms + LEASE,
            forget_at_ms=None,
        )

    def half_way(self) -> str:
        """The fingerprint of a telling that changed something and did not end.

        No incident has it; it is empty only as long as nothing was ever told in full.
        """
        told = self.fingerprint.removeprefix(_HALF_WAY)
        return told and f"{_HALF_WAY}{told}"

    def told(self, incident: Incident, *, now_ms: int) -> "Alert":
        return replace(
            self,
            fingerprint=incident.fingerprint,
            open=incident.open,
            trying_since_ms=None,
            postponed_since_ms=None,
            tried="",
            wait_until_ms=0,
            due_at_ms=None,
            lease_until_ms=0,
            forget_at_ms=None if incident.open else now_ms + REMEMBERED,
        )

    def afresh(self, incident: Incident) -> "Alert":
        """What was tried in vain keeps no other state waiting; it may have arrived all the same."""
        if self.tried in {"", state_of(incident)}:
            return self
        return replace(
            self, tried="", open=True, fingerprint="", wait_until_ms=0, postponed_since_ms=None
        )

    def set_aside(self, *, unsure: bool) -> "Alert":
        """There is nothing to tell any more of what was postponed."""
        return replace(
            self,
            trying_since_ms=self.trying_since_ms if unsure else None,
            postponed_since_ms=None,
            wait_until_ms=0,
            due_at_ms=None,
            lease_until_ms=0,
        )

    def postponed(self, *, now_ms: int, wait_ms: int, unsure: bool) -> "Alert":
        """`unsure` whether something was posted that is not in `pages`."""
        since = now_ms if self.postponed_since_ms is None else self.postponed_since_ms
        return replace(
            self,
            open=self.open or bool(self.pages),
            trying_since_ms=self.trying_since_ms if unsure else None,
            postponed_since_ms=since,
            wait_until_ms=now_ms + wait_ms,
            due_at_ms=now_ms + wait_ms,
            lease_until_ms=0,
        )

    def given_up(self, *, now_ms: int) -> "Alert":
        return replace(self, due_at_ms=None, lease_until_ms=0, forget_at_ms=now_ms + REMEMBERED)


@dataclass(frozen=True, slots=True)
class Leave:
    """There is nothing to tell."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now, or not by us."""

    reason: str
    ask: bool = False
    """Whether another is telling it, who may not know the latest."""


@dataclass(frozen=True, slots=True)
class Tell:
    known: Alert
    news: bool = False
    """Whether there is a thread, which has not heard of this."""


def decide_telling(incident: Incident, known: Alert | None, *, now_ms: int) -> Leave | Wait | Tell:
    if known is None:
        if not incident.open:
            return Leave("over, and never told")
        return Tell(Alert(key=book_key(incident)))
    if not _in_doubt(known) and _says_nothing_new(incident, known):
        return Leave("told already")
    if known.lease_until_ms > now_ms:
        return Wait("another is telling it", ask=True)
    if known.wait_until_ms > now_ms:
        return Wait(f"not before {known.wait_until_ms}")
    begun = known.open and known.fingerprint != ""
    return Tell(known, news=begun and not _says_nothing_new(incident, known))


def is_news(decision: Leave | Wait | Tell) -> bool:
    """Whether anything is to be done now: what has to wait is looked at again in its time."""
    return isinstance(decision, Tell) or (isinstance(decision, Wait) and decision.ask)


def state_of(incident: Incident) -> str:
    return f"{'open' if incident.open else 'over'} {incident.fingerprint}"


def part_of_news(incident: Incident) -> str:
    """The same for the same news, so that it is found again."""
    said = state_of(incident)
    return f"news-{hashlib.sha256(said.encode()).hexdigest()[:12]}"


def _in_doubt(known: Alert) -> bool:
    return known.unsure or known.due_at_ms is not None


def _says_nothing_new(incident: Incident, known: Alert) -> bool:
    if not incident.open:
        return not known.open
    return known.open and known.fingerprint == incident.fingerprint
