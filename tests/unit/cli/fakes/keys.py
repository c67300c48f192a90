"""The keys of every stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock
from switchyard.testing.registry import MemoryApiKeys
from switchyard.usecases.access.api_keys import KeyMove, KeyRing
from switchyard_local.endpoint import Endpoint
from tests.unit.cli.fakes.api import NOW_MS


class FakeKeys:
    def __init__(self) -> None:
        self.stages: dict[str, MemoryApiKeys] = {}
        self.earlier = MemoryApiKeys()
        """The keys that any stage has in its state table."""
        self.clock = ManualClock(NOW_MS)
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None
        self._stage = ""

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[KeyRing]:
        yield KeyRing(keys=self._of(stage, local), ids=self, clock=self.clock)

    @contextmanager
    def move(self, stage: str, local: Endpoint | None) -> Iterator[KeyMove]:
        yield KeyMove(earlier=self.earlier, keys=self._of(stage, local))

    def _of(self, stage: str, local: Endpoint | None) -> MemoryApiKeys:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        self._stage = stage
        return self.stages.setdefault(stage, MemoryApiKeys())

    def new_secret(self) -> str:
        return f"from-{self._stage}"

    def new_job_id(self) -> str:
        raise NotImplementedError

    def new_worker_id(self) -> str:
        raise NotImplementedError
