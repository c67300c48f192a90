"""Protects the worker from being stopped by ECS for as long as its attempts may still take."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import Deployment, minutes_to_protect
from switchyard.domain.tasks.task import Lease
from switchyard.observability import get_logger
from switchyard.ports import Deployments, ScaleInProtection
from switchyard_worker.parent.coroutines import Runtime, first_of
from switchyard_worker.parent.health.stop import Stop
from switchyard_worker.parent.receive.lease import LeaseTiming

logger = get_logger("worker")

LEASES_OF_COVER: Final = 2  # with less than this left, a new attempt waits for its protection
NOT_COVERED: Final = float("-inf")


class Protection:
    def __init__(
        self, runtime: Runtime, platform: ScaleInProtection, timing: LeaseTiming, *, stop: Stop
    ) -> None:
        self.draining = asyncio.Event()
        """Set while the worker is replaced: once it holds no task it drops its protection."""
        self._runtime = runtime
        self._platform = platform
        self._stop = stop
        self._look_again_seconds = timing.lease_seconds
        self._ends: dict[tuple[str, str], float | None] = {}
        """When the time limit of each held attempt is over; `None` until that is known."""
        self._covered_until = NOT_COVERED
        self._busy, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._asking = asyncio.Lock()

    @property
    def held(self) -> int:
        """Return how many tasks the worker holds."""
        return len(self._ends)

    @property
    def tasks(self) -> list[str]:
        """Return the request ids of the tasks that the worker holds."""
        return [request_id for request_id, _ in self._ends]

    @property
    def remaining_seconds(self) -> float | None:
        """Return how long the held attempts may run at most; `None` if there are none."""
        known = [end for end in self._ends.values() if end is not None]
        return max(0.0, max(known) - self._runtime.clock.monotonic()) if known else None

    @contextlib.contextmanager
    def holding(self, lease: Lease) -> Iterator[None]:
        """Count a claimed task as held within the block."""
        key = _key(lease)
        self._ends[key] = None
        self._busy.set()
        self._idle.clear()
        try:
            yield
        finally:
            del self._ends[key]
            if not self._ends:
                self._busy.clear()
                self._idle.set()

    async def cover(self, lease: Lease, *, seconds: float) -> None:
        """Note how long a held attempt may run, before it starts to.

        Only an attempt that begins without protection waits for it; for the others it is renewed
        by `keep`. If it is refused the attempt runs without it.
        """
        if self._stop.asked.is_set():
            return
        now = self._runtime.clock.monotonic()
        self._ends[_key(lease)] = now + seconds
        if self._covered_until < now + LEASES_OF_COVER * self._look_again_seconds:
            await self._renew()

    async def keep(self) -> None:
        """Renew while tasks are held and drop when none is, until a stop is asked for."""
        while await self._is_needed():
            while self._busy.is_set() and not self._stop.asked.is_set():
                await self._renew()
                await self._pause()
            await self._drop()

    async def _is_needed(self) -> bool:
        waits: dict[str, Awaitable[object]] = {
            "stop": self._stop.asked.wait(),
            "busy": self._busy.wait(),
        }
        if self._covered_until > self._runtime.clock.monotonic():  # dropping it was refused
            waits["again"] = self._runtime.sleep(self._look_again_seconds)
        await first_of(waits)
        return not self._stop.asked.is_set()

    async def _pause(self) -> None:
        """Wait for a lease's time even if no task is held meanwhile: tasks follow each other."""
        pause = self._runtime.sleep(self._look_again_seconds)
        waits = {"stop": self._stop.asked.wait(), "drained": self._drained(), "pause": pause}
        await first_of(waits)

    async def _drained(self) -> None:
        await self.draining.wait()
        await self._idle.wait()

    async def _renew(self) -> None:
        """Ask for protection until the last attempt has ended, unless it is granted already."""
        async with self._asking:
            remaining, now = self.remaining_seconds, self._runtime.clock.monotonic()
            if remaining is None or now + remaining <= self._covered_until:
                return
            minutes = minutes_to_protect(remaining)
            if await self._ask(lambda: self._platform.protect(minutes=minutes)):
                self._covered_until = now + 60 * minutes

    async def _drop(self) -> None:
        async with self._asking:
            if self._covered_until == NOT_COVERED:
                return
            if await self._ask(self._platform.drop):
                self._covered_until = NOT_COVERED

    async def _ask(self, request: Callable[[], None]) -> bool:
        try:
            await self._runtime.offload(request)
        except Unavailable as outage:
            logger.warning("scale-in protection is not changed", extra={"error": str(outage)})
            return False
        return True


def _key(lease: Lease) -> tuple[str, str]:
    return lease.ref.request_id, lease.owner


SECONDS_BETWEEN_LOOKS: Final = 60.0


class Replacement:
    def __init__(
        self, runtime: Runtime, deployments: Deployments, protection: Protection, *, stop: Stop
    ) -> None:
        self.changed = asyncio.Event()
        """Set when the answer changes; the coroutine that waits for it clears it."""
        self._runtime = runtime
        self._deployments = deployments
        self._protection = protection
        self._stop = stop
        self._deployment: Deployment | None = None
        self._is_seen = True

    @property
    def deployment(self) -> Deployment | None:
        """Return the deployment as last seen; `None` until then, and where there is none."""
        return self._deployment

    @property
    def replaced(self) -> bool:
        return self._deployment is not None and self._deployment.replaced

    async def watch(self) -> None:
        """Look about once a minute, each worker at times of its own, until a stop is asked for."""
        while not self._stop.asked.is_set():
            if await self._look() and self._deployment is None:
                return  # no service replaces workers here
            seconds = self._runtime.randomness.between(
                SECONDS_BETWEEN_LOOKS / 2, SECONDS_BETWEEN_LOOKS
            )
            await first_of({"stop": self._stop.asked.wait(), "pause": self._runtime.sleep(seconds)})

    async def _look(self) -> bool:
        """Return whether anything was seen; what cannot be seen stays as it was."""
        try:
            found = await self._runtime.offload(self._deployments.look)
        except Unavailable as outage:
            if self._is_seen:
                logger.warning("deployment cannot be seen", extra={"error": str(outage)})
            self._is_seen = False
            return False
        self._is_seen = True
        self._note(found)
        return True

    def _note(self, found: Deployment | None) -> None:
        was_replaced = self.replaced
        if found != self._deployment:
            self.changed.set()
        self._deployment = found
        if found is not None and found.replaced:
            self._protection.draining.set()
            self._log_waiting(found)
        else:
            self._protection.draining.clear()
            if was_replaced:
                logger.info("worker is current again and takes tasks")

    def _log_waiting(self, found: Deployment) -> None:
        """Log what a rollout waits for, once a minute."""
        fields = {
            "release": found.own,
            "current_release": found.current,
            "tasks": self._protection.tasks,
            "at_most_seconds": round(self._protection.remaining_seconds or 0),
        }
        logger.info("worker is replaced: it finishes its tasks and takes no more", extra=fields)
