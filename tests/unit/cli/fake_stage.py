"""The workers of a stage, as operators see them: their brake and what tasks print."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from local.endpoint import Endpoint
from switchyard.adapters.memory.consumption import MemoryConsumption
from switchyard.domain.errors import Unavailable
from switchyard.ports import Consumption


class FakeBrake:
    def __init__(self) -> None:
        self.consumption = MemoryConsumption()
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[Consumption]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield self.consumption


class FakePrinting:
    """Prints its next lines whenever it is asked."""

    def __init__(self) -> None:
        self.lines: list[Sequence[str]] = []
        self.asked: list[tuple[str, bool, str, int]] = []
        """Stage, whether it is local, the task and since when."""
        self.outage: BaseException | None = None

    @contextmanager
    def __call__(
        self, stage: str, local: Endpoint | None, request_id: str, since_ms: int
    ) -> "Iterator[FakePrinting]":
        self.asked.append((stage, local is not None, request_id, since_ms))
        yield self

    def news(self) -> Sequence[str]:
        if self.lines:
            return self.lines.pop(0)
        if self.outage:
            raise self.outage
        return []
