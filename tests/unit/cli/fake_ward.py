"""The running tasks of a stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from local.endpoint import Endpoint
from switchyard.domain.errors import Unavailable
from switchyard.usecases.health.check_tasks import TaskChecker
from tests.fakes.checked_yard import CheckedYard


class FakeWard:
    def __init__(self) -> None:
        self.yard = CheckedYard()
        self.asked: list[tuple[str, bool]] = []
        """Stage, and whether it is local."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[TaskChecker]:
        self.asked.append((stage, local is not None))
        if self.outage:
            raise self.outage
        yield self.yard.checker
