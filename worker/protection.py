"""Protects the worker from being scaled in while it holds a task."""

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.observability import get_logger
from worker.lease_timing import LeaseTiming
from worker.stopping import Stop
from worker.waiting import first_of

logger = get_logger("worker")

LEASES_COVERED: Final = 4  # so that a refusal or two leaves no gap


class Protection:
    def __init__(self, ports: WorkerPorts, timing: LeaseTiming, *, stop: Stop) -> None:
        self._ports = ports
        self._stop = stop
        self._look_again_seconds = timing.lease_seconds
        self._minutes = math.ceil(LEASES_COVERED * timing.lease_seconds / 60)
        self._held = 0
        self._busy = asyncio.Event()

    @property
    def held(self) -> int:
        """How many tasks the worker holds."""
        return self._held

    @contextlib.contextmanager
    def holding_a_task(self) -> Iterator[None]:
        self._held += 1
        self._busy.set()
        try:
            yield
        finally:
            self._held -= 1
            if self._held == 0:
                self._busy.clear()

    async def keep(self) -> None:
        """Until a stop is asked for. Once a lease is often enough: tasks follow each other."""
        while await self._is_needed():
            while self._busy.is_set() and not self._stop.asked.is_set():
                await self._ask(lambda: self._ports.protection.protect(minutes=self._minutes))
                await self._pause()
            await self._ask(self._ports.protection.drop)

    async def _is_needed(self) -> bool:
        await first_of({"stop": self._stop.asked.wait(), "busy": self._busy.wait()})
        return not self._stop.asked.is_set()

    async def _pause(self) -> None:
        pause = self._ports.sleep(self._look_again_seconds)
        await first_of({"stop": self._stop.asked.wait(), "pause": pause})

    async def _ask(self, request: Callable[[], None]) -> None:
        try:
            await self._ports.offload(request)
        except Unavailable as outage:
            logger.warning("scale-in protection is not changed", extra={"error": str(outage)})
