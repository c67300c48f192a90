"""The way of events: the bus, the log and its readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.contracts.events import Event, StoredEvent
    from switchyard.domain.events.event_queries import EventQuery
    from switchyard.domain.measuring.counts import Counts
    from switchyard.domain.measuring.spans import Span


class EventBus(Protocol):
    def put(self, events: Sequence[Event]) -> None:
        """Put events; only refused entries are sent again. Raise `EventsNotAccepted`."""


class EventLog(Protocol):
    def append(self, record: Mapping[str, Any]) -> bool:
        """Write if absent: a second delivery changes nothing. Return whether it was written."""


@dataclass(frozen=True, slots=True)
class PageOfEvents:
    events: tuple[StoredEvent, ...]
    cursor: str | None
    """The place where the next page begins; `None` on the last page."""


class EventReader(Protocol):
    """Looks back; no decision reads the log. `domain/events/event_queries.py` has the questions."""

    def read(self, query: EventQuery, *, full: bool = False) -> Sequence[StoredEvent]:
        """Return all events, however many pages they fill, by time and id; none of another tenant.

        Histories and the whole log hold whole events. The other indexes hold summaries, without
        properties: `full` fetches the events behind them. Fields that were moved to the bucket or
        stored as text are back in their places.
        """

    def page(
        self,
        *queries: EventQuery,
        limit: int,
        max_bytes: int,
        cursor: str | None = None,
        newest_first: bool = False,
    ) -> PageOfEvents:
        """The next answers to all the questions together, by time and id, as whole events.

        Never more than `limit`, and fewer when their properties together would exceed `max_bytes`
        as JSON, or the next answer is too far for one request: only the cursor shows whether there
        are more. Moved fields of an event that is larger than that alone stay in the bucket, and
        their address in their place. Raise `Rejected` for a cursor that did not come from the same
        questions in the same order.
        """


class SpanExporter(Protocol):
    def export(self, spans: Sequence[Span]) -> None:
        """Send all at once. Raise `Unavailable` if some may be missing; nothing is tried again.

        A span that arrives twice is the same one: its id says so.
        """


class Counters(Protocol):
    """Adds up the numbers of events, for two days, at best effort: nothing is decided by it."""

    def add(self, minute_ms: int, counts: Counts) -> None:
        """Add to what was counted before. Raise `Unavailable`, whatever went wrong."""

    def between(self, from_ms: int, to_ms: int) -> Mapping[int, Counts]:
        """Return counts by minute: those that begin from `from_ms` on and before `to_ms`, in order.

        Minutes in which nothing happened are left out.
        """


class PublishedMinutes(Protocol):
    """Sees to it that no minute is published twice."""

    def take(self, *, until_ms: int, at_most_ms: int) -> int | None:
        """Return the first of the minutes that are now the caller's, which end at `until_ms`.

        They go on where the last caller's ended, but not further back than `at_most_ms`. `None` if
        there are none: another has them, or had later ones.
        """
