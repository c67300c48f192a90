"""Holds a lease beside the run, and emits heartbeats of the attempt.

The lease comes first; extending the message's visibility only avoids a needless receive.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from switchyard.contracts import events as contracts
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.tasks.task import Lease, Task
from switchyard.observability import get_logger
from switchyard.ports import Received, TaskInbox, TaskLeases
from switchyard.settings import WorkerSettings
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard_worker.parent.coroutines import Runtime, first_of
from switchyard_worker.parent.supervision.child_output import Activity, LastActivity
from switchyard_worker.parent.supervision.descendants import resident_bytes

logger = get_logger("worker")

LEASE_PER_EXTENSION = 1.5  # room for a late beat and for clocks that differ
KILL_SECONDS = 5.0
MARGIN_SECONDS = 5.0
BEATS_PER_LEASE = 3  # of a lease that is shorter than the stage's


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    lease_seconds: float
    beat_seconds: float
    kill_seconds: float
    """How long a child may take to stop before it is killed."""
    margin_seconds: float

    @classmethod
    def of(cls, settings: WorkerSettings) -> "LeaseTiming":
        """Return the timing of a stage; a short lease has short margins. Raise `ValueError`."""
        lease = LEASE_PER_EXTENSION * settings.visibility_extension_amount
        timing = cls(
            lease_seconds=lease,
            beat_seconds=settings.visibility_extension_interval / 1000,
            kill_seconds=min(KILL_SECONDS, lease / 6),
            margin_seconds=min(MARGIN_SECONDS, lease / 6),
        )
        if timing.beat_seconds >= timing.held_seconds:
            raise ValueError(
                f"VISIBILITY_EXTENSION_INTERVAL: {settings.visibility_extension_interval} ms is "
                f"too long for a lease of {lease:g} s (1.5 times VISIBILITY_EXTENSION_AMOUNT)"
            )
        return timing

    def for_task(self, task: Task) -> "LeaseTiming":
        """Return the timing of renewals, by the lease that the task's queue asks for, if any."""
        if task.lease_ms is None:
            return self
        lease = task.lease_ms / 1000
        return LeaseTiming(
            lease_seconds=lease,
            beat_seconds=min(self.beat_seconds, lease / BEATS_PER_LEASE),
            kill_seconds=min(self.kill_seconds, lease / 6),
            margin_seconds=min(self.margin_seconds, lease / 6),
        )

    @property
    def lease_ms(self) -> int:
        return round(self.lease_seconds * 1000)

    @property
    def held_seconds(self) -> float:
        """Return after how long without a renewal the child has to be stopped."""
        return self.lease_seconds - self.kill_seconds - self.margin_seconds

    @property
    def visibility_seconds(self) -> int:
        """Return a little more than the lease, so that the next receiver may take over at once."""
        return math.ceil(self.lease_seconds + self.margin_seconds)


QUIET_MS: Final = 60_000  # without news, one event a minute


@dataclass(frozen=True, slots=True)
class Watched:
    process_id: int
    activity: LastActivity
    memory: Callable[[int], int] = resident_bytes


class Heartbeats:
    def __init__(self, runtime: Runtime, emitter: Emitter, *, worker_id: str) -> None:
        self._runtime = runtime
        self._emitter = emitter
        self._worker_id = worker_id
        self._watched: Watched | None = None
        self._number = 0
        self._last: tuple[int, Activity | None] | None = None
        self._emitting: asyncio.Task[None] | None = None

    def watch(self, child: Watched) -> None:
        """Begin to emit heartbeats: there is a child now."""
        self._watched = child

    def beat(self, task: Task) -> None:
        """Emit a heartbeat of a task that was just renewed, unless one is still being emitted."""
        self._number += 1
        if self._watched is None or self._is_emitting():
            return
        now_ms, activity = self._runtime.clock.now_ms(), self._watched.activity.current
        if self._is_news(now_ms, activity):
            self._emitting = asyncio.create_task(self._emit(task, self._watched, now_ms, activity))

    async def stop(self) -> None:
        if self._emitting:
            self._emitting.cancel()
            await asyncio.wait({self._emitting})

    def _is_emitting(self) -> bool:
        if self._emitting is None:
            return False
        if self._emitting.done():
            self._emitting.result()  # a bug ends the worker
            return False
        return True

    def _is_news(self, now_ms: int, activity: Activity | None) -> bool:
        if self._last is None:
            return True
        emitted_at_ms, emitted = self._last
        return _kind(activity) != _kind(emitted) or now_ms - emitted_at_ms >= QUIET_MS

    async def _emit(
        self, task: Task, child: Watched, now_ms: int, activity: Activity | None
    ) -> None:
        number = self._number
        try:
            fact = task_events.heartbeat(
                task,
                number=number,
                worker_id=self._worker_id,
                process_id=child.process_id,
                resident_bytes=await self._runtime.offload(child.memory, child.process_id),
                last_activity=_event_activity(activity),
                at_ms=now_ms,
            )
            await self._runtime.offload(self._emitter.emit, fact)
        except Unavailable as outage:
            fields = {"request_id": task.ref.request_id, "error": str(outage)}
            logger.warning("heartbeat is not emitted", extra=fields)
        else:
            self._last = (now_ms, activity)


def _event_activity(activity: Activity | None) -> contracts.ReportedActivity | None:
    if activity is None:
        return None
    return contracts.ReportedActivity(
        type=activity.type, step_name=activity.step_name, timestamp=activity.at_ms
    )


def _kind(activity: Activity | None) -> tuple[str, str] | None:
    return (activity.type, activity.step_name) if activity else None


TRIES_PER_BEAT = 4


class Keepalive:
    def __init__(
        self,
        runtime: Runtime,
        timing: LeaseTiming,
        *,
        leases: TaskLeases,
        inbox: TaskInbox,
        heartbeats: Heartbeats,
        lease: Lease,
        message: Received,
        taken_at: float,
    ) -> None:
        """`taken_at`: the monotonic time *before* the request that took the lease."""
        self.cancel_requested = asyncio.Event()
        self._runtime = runtime
        self._leases = leases
        self._inbox = inbox
        self._timing = timing.for_task(lease.task)
        self._lease = lease
        self._message = message
        self._held_until = taken_at + timing.held_seconds
        self._heartbeats = heartbeats
        self._activity = LastActivity(runtime.clock)

    def watch(self, child: Watched) -> None:
        """Emit heartbeats of this child from now on."""
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
            await self._runtime.sleep(min(pause, max(0.0, self.remaining_seconds())))
            if await self._renew():
                renewed = self._runtime.clock.monotonic()
                await self._extend_visibility()
                pause = renewed + self._timing.beat_seconds - self._runtime.clock.monotonic()
            else:
                pause = self._timing.beat_seconds / TRIES_PER_BEAT

    async def _renew(self) -> bool:
        """Return false without an answer; there may be time for another try."""
        remaining = self.remaining_seconds()
        if remaining <= 0:
            raise LeaseLost(
                f"{self._lease.ref.request_id}: no renewal within {self._timing.held_seconds:g} s"
            )
        try:
            return await first_of(
                {True: self._request_renewal(), False: self._runtime.sleep(remaining)}
            )
        except LeaseLost:
            raise
        except Unavailable as outage:
            logger.warning("lease is not renewed", extra=self._fields(outage))
            return False

    async def _request_renewal(self) -> None:
        began = self._runtime.clock.monotonic()
        now_ms = self._runtime.clock.now_ms()
        task = await self._runtime.offload(
            self._leases.renew,
            self._lease,
            lease_until_ms=max(now_ms + self._timing.lease_ms, self._lease.task.lease_until_ms),
            signs=self._activity.signs(beat_at_ms=now_ms),
        )
        self._held_until = began + self._timing.held_seconds
        if task.cancel_requested:
            self.cancel_requested.set()
        self._heartbeats.beat(task)

    async def _extend_visibility(self) -> None:
        """Extend it within a beat: a queue that does not answer must not cost the lease."""
        extension = self._runtime.offload(
            self._inbox.extend, self._message, seconds=self._timing.visibility_seconds
        )
        timeout = self._runtime.sleep(
            min(self._timing.beat_seconds, max(0.0, self.remaining_seconds()))
        )
        try:
            await first_of({"extended": extension, "late": timeout})
        except Unavailable as outage:
            logger.warning("visibility is not extended", extra=self._fields(outage))

    def remaining_seconds(self) -> float:
        """Return how long the lease is still surely held."""
        return self._held_until - self._runtime.clock.monotonic()

    def _fields(self, outage: Unavailable) -> dict[str, str]:
        return {"request_id": self._lease.ref.request_id, "error": str(outage)}
