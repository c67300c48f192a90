"""Surveys the pools of a stage: who works in each, what it serves and what waits for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from switchyard.domain.health.presence import PresentWorker, those_there
from switchyard.domain.scheduling.pools import DEFAULT_POOL, DeployedPool, Pool, Subscription
from switchyard.ports import Clock, Presence, QueueDepth, QueueDepths
from switchyard.usecases.scheduling.pool_directory import PoolDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolState:
    """A pool as it is at this moment."""

    pool: Pool
    queue: str
    """The name of its queue."""
    subscriptions: tuple[Subscription, ...]
    workers: tuple[PresentWorker, ...]
    depth: QueueDepth

    @property
    def slots(self) -> int:
        return sum(worker.slots for worker in self.workers)

    @property
    def busy(self) -> int:
        return sum(worker.busy for worker in self.workers)

    @property
    def saturation(self) -> float:
        """Return the share of slots that are busy, in percent; 0 without workers."""
        return 100 * self.busy / self.slots if self.slots else 0.0


@dataclass(frozen=True, kw_only=True)
class PoolSurvey:
    """Changes nothing."""

    directory: PoolDirectory
    presence: Presence
    depths: QueueDepths
    clock: Clock

    def survey(self) -> Sequence[PoolState]:
        """Return all pools in the order of the stage table. Raise `Unavailable`."""
        there = those_there(self.presence.all(), now_ms=self.clock.now_ms())
        return [self._state(deployed, there) for deployed in self.directory.pools]

    def _state(self, deployed: DeployedPool, there: Sequence[PresentWorker]) -> PoolState:
        """Describe a pool; workers of a version without pools belong to the default one."""
        return PoolState(
            pool=deployed.pool,
            queue=deployed.queue_url.rpartition("/")[2],
            subscriptions=self.directory.subscriptions(deployed.name),
            workers=tuple(
                worker for worker in there if (worker.pool or DEFAULT_POOL) == deployed.name
            ),
            depth=self.depths.of(deployed.queue_url),
        )
