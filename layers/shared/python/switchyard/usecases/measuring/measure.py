"""Measures a stage: from its state table, its queues, and what was counted of its events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.health.presence import those_there
from switchyard.domain.ids import DUE_SHARDS
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, minute_of
from switchyard.domain.measuring.measures import (
    Flow,
    Levels,
    Measurement,
    PoolLevels,
    Population,
    flow_of,
)
from switchyard.domain.tasks.task import milliseconds
from switchyard.ports import Clock, Counters, Presence, PublishedMinutes, QueueDepths, Unsettled
from switchyard.usecases.scheduling.survey_pools import PoolSurvey

ON_THEIR_WAY_MS: Final = milliseconds(timedelta(seconds=15))
"""The time after its end in which a minute's events may still be on their way to the counters."""
CAUGHT_UP_MS: Final = milliseconds(timedelta(minutes=10))
AT_ONCE: Final = 10_000  # a page ends at a megabyte anyway


@dataclass(frozen=True, kw_only=True)
class Measurer:
    unsettled: Unsettled
    presence: Presence
    counters: Counters
    published: PublishedMinutes
    depths: QueueDepths
    task_queue: str
    """The one queue of a stage without pools."""
    dead_letter_queues: Sequence[str]
    clock: Clock
    pools: PoolSurvey | None = None

    def measure(self, *, window_ms: int) -> Measurement:
        """Measure a window that ends now; of whole minutes, so it may begin a little earlier."""
        now_ms = self.clock.now_ms()
        from_ms = minute_of(now_ms - window_ms)
        counts = self.counters.between(from_ms, now_ms)
        return Measurement(
            at_ms=now_ms,
            window_ms=now_ms - from_ms,
            levels=self.levels(),
            flow=flow_of(counts.values(), window_ms=now_ms - from_ms),
        )

    def levels(self) -> Levels:
        now_ms = self.clock.now_ms()
        population = self._population()
        there = those_there(self.presence.all(), now_ms=now_ms)
        slots = sum(worker.slots for worker in there)
        dead = [self.depths.of(queue) for queue in self.dead_letter_queues]
        return Levels(
            queue_depth=self._waiting(),
            in_flight_count=population.in_flight,
            consumer_count=len(there),
            dlq_depth=sum(depth.waiting + depth.hidden for depth in dead),
            age_of_oldest_item=population.oldest_age_seconds(now_ms=now_ms),
            saturated_consumers=100 * sum(worker.busy for worker in there) / slots if slots else 0,
        )

    def by_pool(self) -> Mapping[str, PoolLevels]:
        """Return the levels of each pool, by its name; of a single pool the stage's say all.

        Raise `Unavailable`.
        """
        states = self.pools.survey() if self.pools and len(self.pools.directory.pools) > 1 else ()
        return {
            state.pool.name: PoolLevels(
                queue_depth=state.depth.waiting,
                in_flight_count=state.depth.hidden,
                consumer_count=len(state.workers),
                saturated_consumers=state.saturation,
            )
            for state in states
        }

    def _waiting(self) -> int:
        if self.pools is None:
            return self.depths.of(self.task_queue).waiting
        queues = (deployed.queue_url for deployed in self.pools.directory.pools)
        return sum(self.depths.of(queue).waiting for queue in queues)

    def unpublished(self) -> Iterator[tuple[int, Flow]]:
        """Yield the minutes that are over and not yet published: the caller publishes them.

        Each is handed out once. If the caller dies before it has published them they are lost,
        for a minute that is published twice would count its costs twice.
        """
        until_ms = minute_of(self.clock.now_ms() - ON_THEIR_WAY_MS)
        from_ms = self.published.take(until_ms=until_ms, at_most_ms=CAUGHT_UP_MS)
        if from_ms is None:
            return
        counts = self.counters.between(from_ms, until_ms)
        for minute_ms in range(from_ms, until_ms, MINUTE_MS):
            yield minute_ms, flow_of([counts.get(minute_ms, Counts())], window_ms=MINUTE_MS)

    def _population(self) -> Population:
        population = Population()
        for shard in range(DUE_SHARDS):
            cursor: str | None = None
            while True:
                page = self.unsettled.page(shard, limit=AT_ONCE, cursor=cursor)
                for task in page.tasks:
                    population.see(task.state, ready_at_ms=task.ready_at_ms)
                cursor = page.cursor
                if cursor is None:
                    break
        return population
