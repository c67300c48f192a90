"""Measures a stage: from its state table, its queues, and what was counted of its events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.health.presence import those_there
from switchyard.domain.ids import DUE_SHARDS
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, minute_of
from switchyard.domain.measuring.measures import Flow, Levels, Measurement, Population, flow_of
from switchyard.domain.tasks.task import milliseconds
from switchyard.ports import Clock, Counters, Presence, PublishedMinutes, QueueDepths, Unsettled

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
    dead_letter_queues: Sequence[str]
    clock: Clock

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
        dead = [self.depths.of(queue) for queue in self.dead_letter_queues]
        return Levels(
            queue_depth=self.depths.of(self.task_queue).waiting,
            in_flight_count=population.in_flight,
            consumer_count=len(those_there(self.presence.all(), now_ms=now_ms)),
            dlq_depth=sum(depth.waiting + depth.hidden for depth in dead),
            age_of_oldest_item=population.oldest_age_seconds(now_ms=now_ms),
        )

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
