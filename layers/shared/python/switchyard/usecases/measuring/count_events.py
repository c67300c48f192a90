"""Adds up the numbers of a batch of new events, by the minutes in which it happened."""

from switchyard.contracts.events import ArrivedEvent
from switchyard.contracts.events.counts import counted
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.counts import Counts, minute_of
from switchyard.ports import Counters


class Tally:
    """Counts the events of one batch: many events of a minute are one write."""

    def __init__(self) -> None:
        self._minutes: dict[int, Counts] = {}

    def note(self, event: ArrivedEvent) -> None:
        """An event that is new: what came before was counted then."""
        counts = counted(event)
        if counts is not None:
            minute_ms = minute_of(event.timestamp)
            self._minutes[minute_ms] = self._minutes.get(minute_ms, Counts()) + counts

    def add_to(self, counters: Counters) -> str | None:
        """Return why something was not counted, if so; the events themselves are saved."""
        try:
            for minute_ms, counts in self._minutes.items():
                counters.add(minute_ms, counts)
        except Unavailable as outage:
            return str(outage)
        return None
