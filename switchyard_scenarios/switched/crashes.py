"""Kills the worker's own process where a switch says so."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from switchyard.domain.tasks.task import Lease
from switchyard.ports import Randomness
from switchyard_scenarios.reporting.journal import Journal
from switchyard_scenarios.switched.switches import CrashPoint, WorkerSwitches


def die() -> None:
    """End as an outage would: nothing is finished, nothing is reported."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Crashes:
    switches: WorkerSwitches
    journal: Journal
    randomness: Randomness
    die: Callable[[], None] = die

    def reached(self, point: CrashPoint, lease: Lease) -> None:
        """The process ends here, if it is to."""
        message = lease.ref.request_id
        if point is self.switches.crash_at and self._kills(message, lease.fence):
            self.journal.note("crashed", message, fence=lease.fence, at=point)
            self.die()

    def _kills(self, message: str, fence: int) -> bool:
        if not message.startswith(self.switches.crash_only):
            return False
        if self.switches.crash_on_first:
            return fence == 1
        return self.randomness.between(0, 1) < self.switches.crash_rate
