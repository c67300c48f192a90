"""Lets the worker leave when the groups of its pool have no work, if that is its pool's way."""

from collections.abc import Callable

from switchyard.bootstrap import WorkerPool, WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Load, those_there
from switchyard.domain.scheduling.emptiness import (
    SECONDS_BETWEEN_READS,
    EmptyReads,
    WorkFound,
    leaves_when_empty,
)
from switchyard.domain.scheduling.pools import WhenEmpty
from switchyard.observability import get_logger
from switchyard.settings import WorkerSettings
from switchyard_worker.parent.health.stop import Stop

logger = get_logger("worker")


class EmptyWatch:
    """Reads every ten seconds whether there is work, and asks for a stop when there is none."""

    def __init__(
        self,
        ports: WorkerPorts,
        settings: WorkerSettings,
        *,
        stop: Stop,
        load: Callable[[], Load],
    ) -> None:
        self._ports = ports
        self._pool = settings.pool
        self._when_empty = settings.when_empty
        self._stop = stop
        self._load = load

    async def keep(self) -> None:
        """Return when the worker is to leave, or at once if it never does by itself."""
        pool = self._ports.pool
        if pool is None or self._when_empty is WhenEmpty.POLL:
            return
        reads = EmptyReads()
        while not await self._is_empty(pool, reads):
            await self._ports.sleep(SECONDS_BETWEEN_READS)
        fields = {"worker_id": self._ports.worker_id, "pool": self._pool}
        logger.info("worker leaves, since its groups are empty", extra=fields)
        self._stop.asked.set()

    async def _is_empty(self, pool: WorkerPool, reads: EmptyReads) -> bool:
        in_service = self._load().release is not None
        if not leaves_when_empty(self._when_empty, replaced_by_service=in_service):
            return False
        try:
            found = await self._ports.offload(self._find_work, pool)
        except Unavailable as outage:
            logger.warning("work of the groups cannot be read", extra={"error": str(outage)})
            return False
        return reads.add(found)

    def _find_work(self, pool: WorkerPool) -> WorkFound:
        """Read the pool's queue, and what other workers of the same groups run."""
        depth = pool.depth()
        return WorkFound(
            waiting=depth.waiting,
            delayed=depth.delayed,
            running=self._load().busy + depth.hidden + self._busy_elsewhere(pool),
        )

    def _busy_elsewhere(self, pool: WorkerPool) -> int:
        """Count only for a batch run: who hibernates is woken when a task elsewhere fails."""
        if self._when_empty is not WhenEmpty.TERMINATE:
            return 0
        groups = {one.group for one in pool.directory.subscriptions(self._pool)}
        present = those_there(self._ports.presence.all(), now_ms=self._ports.clock.now_ms())
        return sum(
            worker.busy
            for worker in present
            if worker.worker_id != self._ports.worker_id
            and groups & {one.partition(":")[0] for one in worker.subscriptions}
        )
