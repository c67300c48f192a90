"""Measures a stage in thirteen numbers, and what it spends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.domain.measuring.counts import Counts, Spending, dearest
from switchyard.domain.states import TaskState

_PENDING: Final = frozenset({TaskState.READY, TaskState.QUEUED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The levels of a stage at one moment."""

    queue_depth: int
    """Messages of all pools' queues that wait for a worker."""
    in_flight_count: int
    """Tasks that a worker holds."""
    consumer_count: int
    dlq_depth: int
    """Messages in all dead-letter queues."""
    age_of_oldest_item: float
    """Seconds since the task became ready that has waited longest; 0 if none waits."""
    saturated_consumers: float = 0.0
    """The share of all workers' slots that are busy, in percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLevels:
    """The levels of one pool at one moment."""

    queue_depth: int
    in_flight_count: int
    """Messages that its workers hold."""
    consumer_count: int
    saturated_consumers: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Counts and rates within a window; rates are per second."""

    claim_rate: float
    completion_rate: float
    failure_rate: float
    timeout_rate: float
    avg_processing_time: float | None
    """Milliseconds of an attempt that ended; `None` if none did."""
    by_definition: Mapping[str, Spending]
    """The dearest first."""
    verified_share: float | None = None
    """The share of completed tasks whose commitments were all found met; `None` if none
    completed."""
    usd_per_verified: float | None = None
    """All that was spent, for each verified task; `None` if none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    at_ms: int
    window_ms: int
    levels: Levels
    flow: Flow


@dataclass(slots=True)
class Population:
    """Counts unsettled tasks as they are seen one by one: there may be very many."""

    in_flight: int = 0
    oldest_ready_at_ms: int | None = None

    def see(self, state: TaskState, *, ready_at_ms: int | None) -> None:
        if state is TaskState.PROCESSING:
            self.in_flight += 1
        elif state in _PENDING and ready_at_ms is not None:
            oldest = self.oldest_ready_at_ms
            self.oldest_ready_at_ms = ready_at_ms if oldest is None else min(oldest, ready_at_ms)

    def oldest_age_seconds(self, *, now_ms: int) -> float:
        if self.oldest_ready_at_ms is None:
            return 0.0
        return max(0, now_ms - self.oldest_ready_at_ms) / 1000  # another's clock may be ahead


def flow_of(counts: Iterable[Counts], *, window_ms: int) -> Flow:
    total = sum(counts, Counts())
    seconds = window_ms / 1000
    cost_usd = sum(spent.cost_micro_usd for spent in total.by_definition.values()) / 1_000_000
    return Flow(
        claim_rate=total.claims / seconds,
        completion_rate=total.completions / seconds,
        failure_rate=total.failures / seconds,
        timeout_rate=total.timeouts / seconds,
        avg_processing_time=total.processing_ms / total.timed if total.timed else None,
        by_definition=dearest(total.by_definition),
        verified_share=total.verified / total.completions if total.completions else None,
        usd_per_verified=cost_usd / total.verified if total.verified else None,
    )
