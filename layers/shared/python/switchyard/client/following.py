"""Follows the log: what is new, however late it arrives, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from switchyard.client.pacing import Pacing
from switchyard.client.patience import OUTAGE_SECONDS, patiently
from switchyard.client.statuses import FINAL
from switchyard.domain.backoff import Backoff

if TYPE_CHECKING:
    from switchyard.client.event_source import EventSource
    from switchyard.contracts.events.views import EventView
    from switchyard.ports import Clock

T = TypeVar("T")

POLLS: Final = Backoff(first=0.5, longest=2.0, factor=1.3)  # seconds
LATENESS: Final = timedelta(minutes=1)
"""The delay after a younger event with which an event may arrive and still be shown."""
LAST_EVENT_PATIENCE_SECONDS: Final = 10.0


class Following:
    def __init__(
        self, source: EventSource, clock: Clock, *, patience_seconds: float = OUTAGE_SECONDS
    ) -> None:
        self._source = source
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._reported: dict[str, EventView] = {}
        """The events of the last window, by id."""
        self._earliest: datetime | None = None
        self._end_seen = False
        self._settled_since: float | None = None

    def begin_with(self, events: Sequence[EventView], *, older_left_out: bool) -> None:
        """Note these events as known. Older ones that were left out are not reported later."""
        self._note(events)
        if older_left_out:
            self._earliest = events[0].timestamp

    def to_the_end(self) -> Iterator[Sequence[EventView]]:
        """Yield events until the followed job or task has settled and none is left."""
        pacing = Pacing(self._clock, POLLS)
        while True:
            news = self._patiently(self._news)
            self._note(news)
            if news:
                yield news
            elif self._patiently(self._is_over):
                return
            pacing.rest(news=bool(news))

    def _patiently(self, ask: Callable[[], T]) -> T:
        return patiently(ask, self._clock, seconds=self._patience_seconds)

    def _news(self) -> list[EventView]:
        window = list(self._source.every(since=self._since()))
        stored = {event.event_id for event in window}
        news = [event for event in window if event.event_id not in self._reported]
        self._reported = {i: event for i, event in self._reported.items() if i in stored}
        return news

    def _since(self) -> str | None:
        if not self._reported:
            lately = None if self._source.followed else f"{LATENESS.seconds}s"
            return self._source.asked.since or lately
        window = max(event.timestamp for event in self._reported.values()) - LATENESS
        return max(window, self._earliest or window).isoformat()

    def _note(self, events: Sequence[EventView]) -> None:
        self._reported |= {event.event_id: event for event in events}
        self._end_seen = self._end_seen or any(map(self._source.is_end, events))

    def _is_over(self) -> bool:
        if self._source.status is None or self._source.status() not in FINAL:
            self._settled_since, self._end_seen = None, False  # an end of an earlier run
            return False
        now = self._clock.monotonic()
        if self._settled_since is None:
            self._settled_since = now
        return self._end_seen or now - self._settled_since >= LAST_EVENT_PATIENCE_SECONDS
