"""The numbers of a stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.measures import Measurement
from switchyard.usecases.measuring.measure import Measurer
from switchyard_local.endpoint import Endpoint
from tests.fakes.harnesses.measured_harness import MeasuredHarness


@dataclass(frozen=True, kw_only=True)
class _Interrupted(Measurer):
    """Somebody presses Ctrl-C when it has been looked at so often."""

    looks: list[BaseException | None]

    def measure(self, *, window_ms: int) -> Measurement:
        ended = self.looks.pop(0) if self.looks else None
        if ended:
            raise ended
        return super().measure(window_ms=window_ms)


class FakeMeasurer:
    def __init__(self) -> None:
        self.harness = MeasuredHarness()
        self.looks: list[BaseException | None] = []
        """What comes of each; nothing: the numbers."""
        self.asked: list[tuple[str, bool]] = []
        """Stage, and whether it is local."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[Measurer]:
        self.asked.append((stage, local is not None))
        if self.outage:
            raise self.outage
        parts = {
            name: getattr(self.harness.measurer, name) for name in Measurer.__dataclass_fields__
        }
        yield _Interrupted(**parts, looks=self.looks)
