"""The running tasks of a stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.domain.errors import Unavailable
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard_local.endpoint import Endpoint
from tests.fakes.harnesses.checked_harness import CheckedHarness


class FakeTaskChecker:
    def __init__(self) -> None:
        self.harness = CheckedHarness()
        self.asked: list[tuple[str, bool]] = []
        """Stage, and whether it is local."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[TaskChecker]:
        self.asked.append((stage, local is not None))
        if self.outage:
            raise self.outage
        yield self.harness.checker
