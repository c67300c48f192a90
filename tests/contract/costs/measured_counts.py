"""What is paid for counting events, and for workers that say that they are there."""

from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending, minute_of
from tests.contract.costs.metered_harness import DEFINITION, NOW_MS, WORKER, MeteredHarness

MINUTE = minute_of(NOW_MS)
SPENT = Spending(
    cost_micro_usd=1_234_567, input_tokens=123_457, output_tokens=98_761, cache_read_tokens=123_457
)
ENDED = Counts(completions=1, timed=1, processing_ms=123_457)
PRESENT = PresentWorker(
    worker_id=WORKER, started_at_ms=NOW_MS, seen_at_ms=NOW_MS, slots=3, busy=2, version="10.20.30"
)


def count_started(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.counters.add(MINUTE, Counts(claims=1)))


def count_ended(harness: MeteredHarness) -> int:
    counts = ENDED + Counts(by_definition={DEFINITION: SPENT})
    harness.counters.add(MINUTE, counts)
    return harness.cost(lambda: harness.counters.add(MINUTE, counts))


def take_minute(harness: MeteredHarness) -> int:
    def take(until_ms: int) -> None:
        harness.published.take(until_ms=until_ms, at_most_ms=MINUTE_MS)

    take(MINUTE)
    return harness.cost(lambda: take(MINUTE + MINUTE_MS))


def say_present(harness: MeteredHarness) -> int:
    harness.presence.seen(PRESENT)
    return harness.cost(lambda: harness.presence.seen(PRESENT))


def say_left(harness: MeteredHarness) -> int:
    harness.presence.seen(PRESENT)
    return harness.cost(lambda: harness.presence.left(WORKER, now_ms=NOW_MS))
