"""The contract of `Counters` and of `PublishedMinutes`: a minute is published once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from switchyard.adapters.dynamodb.counters import DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending, minute_of
from switchyard.domain.moments import end_of_day_ms
from switchyard.testing.counters import MemoryPublishedMinutes
from tests.builders import NOW_MS
from tests.contract.clouds import Cloud
from tests.contract.conftest import Backend
from tests.fakes.tables import state_table

MINUTE = minute_of(NOW_MS)
SOME = Counts(claims=3, completions=1, timed=1, processing_ms=1_234)
TEN_MINUTES = 10 * MINUTE_MS


def test_counts_of_a_minute_add_up_and_definitions_stay_apart(backend: Backend) -> None:
    spent = Spending(cost_micro_usd=7, input_tokens=10, output_tokens=1)
    cheap = Spending(cache_read_tokens=5)
    backend.counters.add(MINUTE, SOME)
    backend.counters.add(MINUTE, Counts(failures=1, by_definition={"scrape": spent}))
    more = {"scrape": spent, "scrape-2_X": cheap}
    backend.counters.add(
        MINUTE, Counts(claims=1, failed_attempts=2, timeouts=4, by_definition=more)
    )

    assert backend.counters.between(MINUTE, MINUTE + MINUTE_MS) == {
        MINUTE: Counts(
            claims=4,
            completions=1,
            failures=1,
            failed_attempts=2,
            timeouts=4,
            timed=1,
            processing_ms=1_234,
            by_definition={"scrape": spent + spent, "scrape-2_X": cheap},
        )
    }


def test_a_window_begins_with_its_first_minute_and_ends_before_its_last(backend: Backend) -> None:
    spent = Counts(claims=1, by_definition={"zz": Spending(cost_micro_usd=1)})
    minutes = [MINUTE + number * MINUTE_MS for number in range(5)]
    for minute in reversed(minutes):
        backend.counters.add(minute, spent)

    def between(from_ms: int, to_ms: int) -> list[tuple[int, Counts]]:
        return list(backend.counters.between(from_ms, to_ms).items())

    assert between(minutes[1], minutes[3]) == [(minute, spent) for minute in minutes[1:3]]
    assert between(minutes[1] - 1, minutes[3] + 1) == [(minute, spent) for minute in minutes[1:4]]
    assert backend.counters.between(minutes[4] + 1, minutes[4] + 2) == {}


def test_a_window_may_span_midnight(backend: Backend) -> None:
    midnight = end_of_day_ms("2027-01-15")
    backend.counters.add(midnight - MINUTE_MS, SOME)
    backend.counters.add(midnight, SOME + SOME)

    found = backend.counters.between(midnight - TEN_MINUTES, midnight + TEN_MINUTES)

    assert found == {midnight - MINUTE_MS: SOME, midnight: SOME + SOME}


def test_every_minute_is_taken_once_and_none_is_left_out(backend: Backend) -> None:
    def take(after: int) -> int | None:
        until = MINUTE + after * MINUTE_MS
        taken = backend.published.take(until_ms=until, at_most_ms=TEN_MINUTES)
        return None if taken is None else (taken - MINUTE) // MINUTE_MS

    assert take(0) == -10
    assert take(0) is None
    assert take(1) == 0
    assert take(3) == 1  # a run was left out
    assert take(2) is None  # a clock was set back
    assert take(60) == 50  # long ago is let go


class TooLate(DynamoDbTable):
    """Lets another writer be faster than each reader."""

    def get(self, key: Key) -> Item | None:
        found = super().get(key)
        other = DynamoDbPublishedMinutes(DynamoDbTable(self._client, self.name))
        assert other.take(until_ms=MINUTE, at_most_ms=MINUTE_MS) is not None
        return found


@pytest.mark.parametrize("first", [True, False])
def test_of_two_who_take_the_same_minutes_one_gets_them(moto: Cloud, first: bool) -> None:
    client = moto.client("dynamodb")
    name = state_table(client, moto.fresh("state"))
    if not first:
        earlier = DynamoDbPublishedMinutes(DynamoDbTable(client, name))
        earlier.take(until_ms=MINUTE - MINUTE_MS, at_most_ms=MINUTE_MS)

    late = DynamoDbPublishedMinutes(TooLate(client, name))

    assert late.take(until_ms=MINUTE, at_most_ms=MINUTE_MS) is None


def test_in_memory_many_at_once_are_one() -> None:
    published = MemoryPublishedMinutes()

    def take(_thread: int) -> int | None:
        return published.take(until_ms=MINUTE, at_most_ms=TEN_MINUTES)

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(take, range(8)))

    assert [one for one in taken if one is not None] == [MINUTE - TEN_MINUTES]
