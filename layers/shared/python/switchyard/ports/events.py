"""The way of events: the bus, the log and its readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from switchyard.contracts.events import Event, KeptEvent
from switchyard.domain.events.event_queries import EventQuery


class EventBus(Protocol):
    def put(self, events: Sequence[Event]) -> None:
        """Only refused entries are sent again. Raise `EventsNotAccepted`, never lose silently."""


class EventLog(Protocol):
    def append(self, record: Mapping[str, Any]) -> bool:
        """Write if absent: a second delivery changes nothing. Tell whether it was written."""


@dataclass(frozen=True, slots=True)
class PageOfEvents:
    events: tuple[KeptEvent, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class EventReader(Protocol):
    """Looks back; no decision reads the log. `domain/events/event_queries.py` has the questions."""

    def read(self, query: EventQuery, *, full: bool = False) -> Sequence[KeptEvent]:
        """All answers, however many pages they fill, by time and id; none of another tenant.

        Histories and the whole log hold whole events. The other indexes hold summaries, without
        properties: `full` fetches the events behind them. Fields that were moved to the bucket or
        kept as text are back in their places.
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
        as JSON, or the next answer is too far for one request: only the cursor tells whether there
        are more. Moved fields of an event that is larger than that alone stay in the bucket, and
        their address in their place. Raise `Rejected` for a cursor that did not come from the same
        questions in the same order.
        """
