"""What is paid for counting events, and for workers that say that they are there."""

from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending, minute_of
from tests.contract.metered_yard import DEFINITION, NOW_MS, WORKER, MeteredYard

MINUTE = minute_of(NOW_MS)
SPENT = Spending(
    cost_micro_usd=1_234_567, input_tokens=123_457, output_tokens=98_761, cache_read_tokens=123_457
)
ENDED = Counts(completions=1, timed=1, processing_ms=123_457)
PRESENT = PresentWorker(
    worker_id=WORKER, started_at_ms=NOW_MS, seen_at_ms=NOW_MS, slots=3, busy=2, version="10.20.30"
)


def count_started(yard: MeteredYard) -> int:
    return yard.cost(lambda: yard.counters.add(MINUTE, Counts(claims=1)))


def count_ended(yard: MeteredYard) -> int:
    counts = ENDED + Counts(by_definition={DEFINITION: SPENT})
    yard.counters.add(MINUTE, counts)
    return yard.cost(lambda: yard.counters.add(MINUTE, counts))


def take_minute(yard: MeteredYard) -> int:
    def take(until_ms: int) -> None:
        yard.published.take(until_ms=until_ms, at_most_ms=MINUTE_MS)

    take(MINUTE)
    return yard.cost(lambda: take(MINUTE + MINUTE_MS))


def say_present(yard: MeteredYard) -> int:
    yard.presence.seen(PRESENT)
    return yard.cost(lambda: yard.presence.seen(PRESENT))


def say_left(yard: MeteredYard) -> int:
    yard.presence.seen(PRESENT)
    return yard.cost(lambda: yard.presence.left(WORKER, now_ms=NOW_MS))
