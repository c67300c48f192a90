"""Reports that this worker exists; an outage of the store never delays its tasks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from switchyard import VERSION
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import REPORTED_EVERY, Load, PresentWorker
from switchyard.domain.scheduling.pools import WhenEmpty
from switchyard.observability import get_logger
from switchyard.ports import Presence
from switchyard.usecases.scheduling.pool_directory import PoolDirectory
from switchyard_worker.parent.coroutines import Runtime, first_of

logger = get_logger("worker")

LAST_REPORT_SECONDS = 5.0  # the platform waits; a worker without reports is soon forgotten


@dataclass(frozen=True, slots=True)
class Membership:
    """The pool that a worker belongs to."""

    pool: str
    when_empty: WhenEmpty
    directory: PoolDirectory | None

    def subscriptions(self) -> tuple[str, ...]:
        """Return the groups that the pool serves now. Raise `Unavailable`."""
        if self.directory is None:
            return ()
        return tuple(map(str, self.directory.subscriptions(self.pool)))


class PresenceReports:
    """Reports once a minute that this worker exists and what it does."""

    def __init__(
        self,
        runtime: Runtime,
        presence: Presence,
        *,
        worker_id: str,
        slots: int,
        backend: str,
        functions: Callable[[], tuple[str, ...]],
        load: Callable[[], Load],
        changed: asyncio.Event,
    ) -> None:
        """Write the load every minute, and when `changed` is set."""
        self._runtime = runtime
        self._presence = presence
        self._worker_id = worker_id
        self._slots = slots
        self._backend = backend
        self._functions = functions
        self._membership: Membership | None = None
        self._load = load
        self._changed = changed
        self._started_at_ms = runtime.clock.now_ms()
        self._over = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    def of_pool(self, membership: Membership) -> Self:
        """Report the pool as well."""
        self._membership = membership
        return self

    def begin(self) -> None:
        self._keeping = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """End after a last report, or without one if the store does not answer."""
        self._over.set()
        if self._keeping:
            timeout = self._runtime.sleep(LAST_REPORT_SECONDS)
            await first_of({"reported": self._keeping, "timeout": timeout})

    async def _keep(self) -> None:
        """Send one report after the other: an earlier one must not arrive after the last."""
        while not self._over.is_set():
            self._changed.clear()
            await self._report(lambda: self._presence.seen(self._current()))
            pause = self._runtime.sleep(REPORTED_EVERY.total_seconds())
            changed = self._changed.wait()
            await first_of({"over": self._over.wait(), "changed": changed, "pause": pause})
        now_ms = self._runtime.clock.now_ms()
        await self._report(lambda: self._presence.left(self._worker_id, now_ms=now_ms))

    def _current(self) -> PresentWorker:
        load, member = self._load(), self._membership
        return PresentWorker(
            worker_id=self._worker_id,
            started_at_ms=self._started_at_ms,
            seen_at_ms=self._runtime.clock.now_ms(),
            slots=self._slots,
            busy=load.busy,
            version=VERSION,
            release=load.release,
            draining=load.draining,
            busy_until_ms=load.busy_until_ms,
            sick=load.sick,
            backend=self._backend,
            functions=self._functions(),
            pool=member.pool if member else None,
            subscriptions=member.subscriptions() if member else (),
            when_empty=member.when_empty if member else None,
        )

    async def _report(self, report: Callable[[], None]) -> None:
        try:
            await self._runtime.offload(report)
        except Unavailable as outage:
            logger.warning("presence is not reported", extra={"error": str(outage)})
