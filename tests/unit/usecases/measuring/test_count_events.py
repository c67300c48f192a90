"""A batch of new events becomes one write for each minute."""

from switchyard.contracts.events import ArrivedEvent
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, minute_of
from switchyard.testing.counters import MemoryCounters
from switchyard.usecases.measuring.count_events import Tally
from tests.builders import NOW_MS

MINUTE = minute_of(NOW_MS)


class RecordedCounters(MemoryCounters):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[int] = []
        self.outage: Unavailable | None = None

    def add(self, minute_ms: int, counts: Counts) -> None:
        self.writes.append(minute_ms)
        if self.outage:
            raise self.outage
        super().add(minute_ms, counts)


def an_event(event_type: str, *, at_ms: int) -> ArrivedEvent:
    return ArrivedEvent.model_validate(
        {
            "PK": "TENANT#acme",
            "SK": "1",
            "entityId": "job-1__a",
            "entityType": "TASK",
            "tenantId": "acme",
            "eventType": event_type,
            "timestamp": at_ms,
            "properties": {},
        }
    )


def a_tally() -> Tally:
    tally = Tally()
    tally.note(an_event("Task Processing Started", at_ms=MINUTE + MINUTE_MS - 1))
    tally.note(an_event("Task Completed", at_ms=MINUTE + MINUTE_MS))
    tally.note(an_event("Task Processing Started", at_ms=MINUTE))
    tally.note(an_event("Task Heartbeat", at_ms=MINUTE))
    return tally


def test_events_count_in_the_minute_in_which_they_happened() -> None:
    counters = RecordedCounters()

    assert a_tally().add_to(counters) is None

    assert counters.writes == [MINUTE, MINUTE + MINUTE_MS]
    assert counters.between(0, NOW_MS * 2) == {
        MINUTE: Counts(claims=2),
        MINUTE + MINUTE_MS: Counts(completions=1),
    }


def test_an_outage_is_returned_and_neither_raised_nor_retried() -> None:
    counters = RecordedCounters()
    counters.outage = Unavailable("the table is down")

    assert a_tally().add_to(counters) == "the table is down"
    assert counters.writes == [MINUTE]


def test_where_nothing_is_counted_nothing_is_written() -> None:
    counters = RecordedCounters()
    tally = Tally()
    tally.note(an_event("Task Heartbeat", at_ms=MINUTE))

    assert tally.add_to(counters) is None
    assert counters.writes == []
