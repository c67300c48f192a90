"""Holds a lease beside the run. The lease comes first; visibility only spares a wake-up."""

import asyncio
from typing import NoReturn

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.tasks.task import Lease
from switchyard.observability import get_logger
from switchyard.ports import Received
from worker.activity import LastActivity
from worker.heartbeats import Heartbeats, Watched
from worker.lease_timing import LeaseTiming
from worker.waiting import first_of

logger = get_logger("worker")

TRIES_PER_BEAT = 4


class Keepalive:
    def __init__(
        self,
        ports: WorkerPorts,
        timing: LeaseTiming,
        *,
        lease: Lease,
        message: Received,
        taken_at: float,
    ) -> None:
        """`taken_at`: the monotonic time *before* the request that took the lease."""
        self.cancel_requested = asyncio.Event()
        self._ports = ports
        self._timing = timing
        self._lease = lease
        self._message = message
        self._held_until = taken_at + timing.held_seconds
        self._heartbeats = Heartbeats(ports)
        self._activity = LastActivity(ports.clock)

    def watch(self, child: Watched) -> None:
        """From now on its heartbeats are told."""
        self._activity = child.activity
        self._heartbeats.watch(child)

    async def keep(self) -> NoReturn:
        """Renew until cancelled. Raise `LeaseLost` early enough to stop a child before its end."""
        try:
            await self._renew_for_ever()
        finally:
            await self._heartbeats.stop()

    async def _renew_for_ever(self) -> NoReturn:
        pause = self._timing.beat_seconds
        while True:
            await self._ports.sleep(min(pause, max(0.0, self._remaining())))
            if await self._renew():
                renewed = self._ports.clock.monotonic()
                await self._extend_visibility()
                pause = renewed + self._timing.beat_seconds - self._ports.clock.monotonic()
            else:
                pause = self._timing.beat_seconds / TRIES_PER_BEAT

    async def _renew(self) -> bool:
        """False when nobody answered; there may be time for another try."""
        remaining = self._remaining()
        if remaining <= 0:
            raise LeaseLost(
                f"{self._lease.ref.request_id}: no renewal within {self._timing.held_seconds:g} s"
            )
        try:
            return await first_of(
                {True: self._request_renewal(), False: self._ports.sleep(remaining)}
            )
        except LeaseLost:
            raise
        except Unavailable as outage:
            logger.warning("lease is not renewed", extra=self._fields(outage))
            return False

    async def _request_renewal(self) -> None:
        began = self._ports.clock.monotonic()
        now_ms = self._ports.clock.now_ms()
        task = await self._ports.offload(
            self._ports.leases.renew,
            self._lease,
            lease_until_ms=now_ms + self._timing.lease_ms,
            signs=self._activity.signs(beat_at_ms=now_ms),
        )
        self._held_until = began + self._timing.held_seconds
        if task.cancel_requested:
            self.cancel_requested.set()
        self._heartbeats.beat(task)

    async def _extend_visibility(self) -> None:
        """At most until the next beat: a queue that does not answer must not cost the lease."""
        extension = self._ports.offload(
            self._ports.inbox.extend, self._message, seconds=self._timing.visibility_seconds
        )
        patience = self._ports.sleep(min(self._timing.beat_seconds, max(0.0, self._remaining())))
        try:
            await first_of({"extended": extension, "late": patience})
        except Unavailable as outage:
            logger.warning("visibility is not extended", extra=self._fields(outage))

    def _remaining(self) -> float:
        return self._held_until - self._ports.clock.monotonic()

    def _fields(self, outage: Unavailable) -> dict[str, str]:
        return {"request_id": self._lease.ref.request_id, "error": str(outage)}
