"""The workers of a stage, as operators see them: their brake and what tasks print."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from switchyard.domain.errors import Unavailable
from switchyard.ports import PauseSwitch
from switchyard.testing.presence import MemoryPauseSwitch
from switchyard_local.endpoint import Endpoint


class FakePauseSwitch:
    def __init__(self) -> None:
        self.pause_switch = MemoryPauseSwitch()
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[PauseSwitch]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield self.pause_switch


class FakeTaskOutput:
    """Prints its next lines whenever it is asked."""

    def __init__(self) -> None:
        self.lines: list[Sequence[str]] = []
        self.asked: list[tuple[str, bool, str, int]] = []
        """Stage, whether it is local, the task and since when."""
        self.outage: BaseException | None = None

    @contextmanager
    def __call__(
        self, stage: str, local: Endpoint | None, request_id: str, since_ms: int
    ) -> "Iterator[FakeTaskOutput]":
        self.asked.append((stage, local is not None, request_id, since_ms))
        yield self

    def news(self) -> Sequence[str]:
        if self.lines:
            return self.lines.pop(0)
        if self.outage:
            raise self.outage
        return []
