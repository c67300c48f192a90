"""An alert: what was published about an incident to one channel, and what to publish next.

The names of an alert's fields are the names of its stored attributes.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from switchyard.domain.alerts.incidents import IncidentState
from switchyard.domain.tasks.task import milliseconds

LEASE: Final = milliseconds(timedelta(seconds=60))
"""The time of a lease: longer than the timeout of any function that publishes alerts."""
REMEMBERED: Final = milliseconds(timedelta(days=30))
"""The time that an alert stays in the table after its incident is over."""
AFTER_REFUSAL: Final = milliseconds(timedelta(minutes=10))
"""The pause after a refusal that a person has to mend, such as a missing scope."""
GIVEN_UP_AFTER: Final = milliseconds(timedelta(days=1))
"""The time for which refusals are retried."""
WEBHOOK_RETRIES: Final = tuple(
    milliseconds(after)
    for after in (
        timedelta(minutes=5),
        timedelta(minutes=30),
        timedelta(hours=4),
        timedelta(hours=24),
    )
)
"""Times at which a failed delivery to a webhook is retried, counted from its first attempt."""

_CHANNEL_MARK: Final = "@"
_PARTIAL: Final = "~"


def alert_key(state: IncidentState) -> str:
    """The key under which the alert of a subject in a channel is stored."""
    if state.channel is None:
        return str(state.subject)
    return f"{state.subject}{_CHANNEL_MARK}{state.channel}"


def subject_in_key(key: str) -> str:
    """The text of the subject in a key that `alert_key` made."""
    return key.partition(_CHANNEL_MARK)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """The stored state of an alert. A process leases it to publish; each lease has a fence."""

    key: str
    fence: int = 0
    """The number of times that the alert was leased."""
    asks: int = 0
    """The number of times that a process found it leased and asked for another update."""
    fingerprint: str = ""
    """The fingerprint of the state that was last published completely."""
    open: bool = False
    """Whether readers see an open incident."""
    opened_at_ms: int = 0
    channel: str = ""
    pages: tuple[str, ...] = ()
    """The ids of its messages; the first is the main message, the others are in its thread."""
    trying_since_ms: int | None = None
    """The time from which there may be posted messages whose ids are not in `pages`."""
    postponed_since_ms: int | None = None
    tried: str = ""
    """The name of the state whose delivery to a webhook failed last."""
    wait_until_ms: int = 0
    due_at_ms: int | None = None
    """The time at which the sweeper has the alert's subject checked again."""
    lease_until_ms: int = 0
    forget_at_ms: int | None = None

    @property
    def unsure(self) -> bool:
        """Whether messages may have been posted whose ids are not known."""
        return self.trying_since_ms is not None

    def leased(self, *, now_ms: int) -> "Alert":
        """The alert with a lease taken now; a crash of the lease's holder leaves it like this."""
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

    def partial_fingerprint(self) -> str:
        """A fingerprint that no incident has, for an update that began and did not end.

        It is empty as long as no state was ever published completely.
        """
        published = self.fingerprint.removeprefix(_PARTIAL)
        return published and f"{_PARTIAL}{published}"

    def published(self, state: IncidentState, *, now_ms: int) -> "Alert":
        """The alert after `state` was published completely."""
        return replace(
            self,
            fingerprint=state.fingerprint,
            open=state.open,
            trying_since_ms=None,
            postponed_since_ms=None,
            tried="",
            wait_until_ms=0,
            due_at_ms=None,
            lease_until_ms=0,
            forget_at_ms=None if state.open else now_ms + REMEMBERED,
        )

    def retried_for(self, state: IncidentState) -> "Alert":
        """The alert without the waiting time of a failed delivery of another state.

        That delivery may have arrived all the same, so readers may see an open incident.
        """
        if self.tried in {"", state.name}:
            return self
        return replace(
            self, tried="", open=True, fingerprint="", wait_until_ms=0, postponed_since_ms=None
        )

    def no_longer_due(self, *, unsure: bool) -> "Alert":
        """The alert after its postponed update turned out to be unnecessary."""
        return replace(
            self,
            trying_since_ms=self.trying_since_ms if unsure else None,
            postponed_since_ms=None,
            wait_until_ms=0,
            due_at_ms=None,
            lease_until_ms=0,
        )

    def postponed(self, *, now_ms: int, wait_ms: int, unsure: bool) -> "Alert":
        """The alert after a failed update; `unsure` if a message may be posted all the same."""
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
        """The alert after the last retry: only another event has it updated again."""
        return replace(self, due_at_ms=None, lease_until_ms=0, forget_at_ms=now_ms + REMEMBERED)


@dataclass(frozen=True, slots=True)
class Skip:
    """A decision that there is nothing to publish."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The state cannot be published now, or another process is publishing."""

    reason: str
    request_update: bool = False
    """Whether the process that publishes may have read an older state."""


@dataclass(frozen=True, slots=True)
class Publish:
    """The state has to be published, beginning from the stored alert `known`."""

    known: Alert
    news: bool = False
    """Whether the alert has a thread in which this change was not posted yet."""


Decision = Skip | Wait | Publish


class PublishStatus(StrEnum):
    POSTED = "posted"
    UPDATED = "updated"
    RECOVERED = "recovered"
    UNCHANGED = "unchanged"
    POSTPONED = "postponed"
    GIVEN_UP = "given up"
    NOT_CONFIGURED = "not configured"
    NOT_ALLOWED = "not allowed"

    @property
    def failed(self) -> bool:
        return self in {
            PublishStatus.POSTPONED,
            PublishStatus.GIVEN_UP,
            PublishStatus.NOT_CONFIGURED,
            PublishStatus.NOT_ALLOWED,
        }


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of publishing a state."""

    status: PublishStatus
    reason: str = ""
    repeated: bool = False
    """Whether this process had the same failure before and logged it already."""
    update_requested: bool = False
    """Whether another process asked for an update in the meantime."""


def decide_publishing(state: IncidentState, known: Alert | None, *, now_ms: int) -> Decision:
    """Decide what to do about `state`, given the alert that is stored for it."""
    if known is None:
        if not (state.open or state.announced):
            return Skip("over, and never posted")
        return Publish(Alert(key=alert_key(state)))
    in_doubt = known.unsure or known.due_at_ms is not None
    if not in_doubt and _is_published(state, known):
        return Skip("posted already")
    if known.lease_until_ms > now_ms:
        return Wait("another process is posting it", request_update=True)
    if known.wait_until_ms > now_ms:
        return Wait(f"not before {known.wait_until_ms}")
    has_thread = known.open and known.fingerprint != ""
    return Publish(known, news=has_thread and not _is_published(state, known))


def needs_action(decision: Decision) -> bool:
    """Whether anything has to be done now; an alert that waits is due again by itself."""
    return isinstance(decision, Publish) or (isinstance(decision, Wait) and decision.request_update)


def status_after(known: Alert, published: Alert) -> PublishStatus:
    """The status of an update that made `published` of the alert `known`."""
    if not published.pages:
        return PublishStatus.UNCHANGED
    if not published.open:
        return PublishStatus.RECOVERED
    return PublishStatus.UPDATED if known.open else PublishStatus.POSTED


def news_id(state: IncidentState) -> str:
    """An id by which the news of a state are found again in the thread."""
    return f"news-{hashlib.sha256(state.name.encode()).hexdigest()[:12]}"


def webhook_retry_pause(elapsed_ms: int) -> int | None:
    """The pause until the next retry, `elapsed_ms` after the first attempt; `None` for no retry.

    A retry whose time has passed is skipped, so that there are never more than five attempts.
    """
    return next((at - elapsed_ms for at in WEBHOOK_RETRIES if at > elapsed_ms), None)


def _is_published(state: IncidentState, known: Alert) -> bool:
    if not state.open:
        announced = not state.announced or known.fingerprint == state.fingerprint
        return not known.open and announced
    return known.open and known.fingerprint == state.fingerprint
