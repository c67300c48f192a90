"""Says that this worker is there; at best, and never in the way of its tasks."""

import asyncio
from collections.abc import Callable

from switchyard import VERSION
from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import TOLD_EVERY, Load, PresentWorker
from switchyard.observability import get_logger
from worker.parent.coroutines import first_of

logger = get_logger("worker")

LAST_WORD_SECONDS = 5.0  # the platform waits for us: one that says nothing is forgotten soon


class Attendance:
    def __init__(
        self,
        ports: WorkerPorts,
        *,
        slots: int,
        load: Callable[[], Load],
        changed: asyncio.Event,
    ) -> None:
        """`changed` is set when the load should be written before its next minute."""
        self._ports = ports
        self._slots = slots
        self._load = load
        self._changed = changed
        self._started_at_ms = ports.clock.now_ms()
        self._over = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._keeping = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """After the last word, or without it if nobody listens."""
        self._over.set()
        if self._keeping:
            patience = self._ports.sleep(LAST_WORD_SECONDS)
            await first_of({"said": self._keeping, "patience": patience})

    async def _keep(self) -> None:
        """One word after the other: what was said first must not arrive after the last."""
        while not self._over.is_set():
            self._changed.clear()
            await self._say(lambda: self._ports.presence.seen(self._as_it_is()))
            pause = self._ports.sleep(TOLD_EVERY.total_seconds())
            changed = self._changed.wait()
            await first_of({"over": self._over.wait(), "changed": changed, "pause": pause})
        now_ms = self._ports.clock.now_ms()
        await self._say(lambda: self._ports.presence.left(self._ports.worker_id, now_ms=now_ms))

    def _as_it_is(self) -> PresentWorker:
        load = self._load()
        return PresentWorker(
            worker_id=self._ports.worker_id,
            started_at_ms=self._started_at_ms,
            seen_at_ms=self._ports.clock.now_ms(),
            slots=self._slots,
            busy=load.busy,
            version=VERSION,
            release=load.release,
            draining=load.draining,
            busy_until_ms=load.busy_until_ms,
            sick=load.sick,
        )

    async def _say(self, word: Callable[[], None]) -> None:
        try:
            await self._ports.offload(word)
        except Unavailable as outage:
            logger.warning("presence is not told", extra={"error": str(outage)})
