"""The workers of a stage and its current release, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from local.endpoint import Endpoint
from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.presence import MemoryPresence
from switchyard.domain.errors import Unavailable
from switchyard.usecases.health.watch_rollout import RolloutWatch
from tests.unit.cli.fakes import NOW_MS


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
