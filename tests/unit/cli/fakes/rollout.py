"""The workers of a stage and its current release, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock
from switchyard.testing.presence import MemoryPresence
from switchyard.usecases.health.watch_rollout import RolloutWatch
from switchyard_local.endpoint import Endpoint
from tests.unit.cli.fakes.api import NOW_MS


class FakeRollout:
    def __init__(self) -> None:
        self.presence = MemoryPresence()
        self.current: str | None = "worker:8"
        self.asked: list[tuple[str, bool]] = []
        """Stage, and whether it is local."""
        self.looks_until_interrupted: int | None = None
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[RolloutWatch]:
        self.asked.append((stage, local is not None))
        if self.outage:
            raise self.outage
        yield RolloutWatch(presence=self.presence, current=self._current, clock=ManualClock(NOW_MS))

    def _current(self) -> str | None:
        if self.looks_until_interrupted == 0:
            raise KeyboardInterrupt
        if self.looks_until_interrupted is not None:
            self.looks_until_interrupted -= 1
        return self.current
