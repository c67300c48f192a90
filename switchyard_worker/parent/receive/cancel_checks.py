"""Checks every two seconds which running tasks are cancelled, in one read for all slots.

A renewal sees the flag as well, but only every 20 s. A check only reads: what follows from a cancel
is written under the lease, as after a renewal.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease
from switchyard.ports import Seen, TaskLeases
from switchyard_worker.parent.coroutines import Runtime

CHECK_SECONDS: Final = 2.0
"""The pause between two checks, and the age at which a task is first checked."""


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    lease: Lease
    cancel_requested: asyncio.Event
    since: float

    def apply(self, seen: Seen | None) -> None:
        """Set the event if what was read is this attempt, and it is cancelled."""
        if seen is None or seen.task.fence != self.lease.fence:
            return  # the next renewal finds that the lease is lost
        if seen.task.state is TaskState.PROCESSING and (
            seen.task.cancel_requested or seen.job_cancelled
        ):
            self.cancel_requested.set()


class CancelChecks:
    def __init__(self, runtime: Runtime, leases: TaskLeases) -> None:
        self._runtime = runtime
        self._leases = leases
        self._running: set[_Running] = set()

    @contextlib.contextmanager
    def checking(self, lease: Lease, cancel_requested: asyncio.Event) -> Iterator[None]:
        """Check a task within the block, and set the event once it is cancelled."""
        running = _Running(lease, cancel_requested, self._runtime.clock.monotonic())
        self._running.add(running)
        try:
            yield
        finally:
            self._running.discard(running)

    async def keep(self) -> None:
        """Check until cancelled."""
        while True:
            await self._runtime.sleep(CHECK_SECONDS)
            await self.check()

    async def check(self) -> None:
        """Read all tasks that have run for a while and are not known to be cancelled."""
        before = self._runtime.clock.monotonic() - CHECK_SECONDS
        due = [
            running
            for running in self._running
            if running.since <= before and not running.cancel_requested.is_set()
        ]
        if not due:
            return
        try:
            seen = await self._runtime.offload(
                self._leases.look_at, [running.lease.ref for running in due]
            )
        except (Unavailable, MemoryError, OSError, RuntimeError):
            return  # the renewals, which see the flag too, report what is wrong
        for running in due:
            running.apply(seen.get(running.lease.ref))
