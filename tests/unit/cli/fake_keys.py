"""The keys of every stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from local.endpoint import Endpoint
from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.registry import MemoryApiKeys
from switchyard.domain.errors import Unavailable
from switchyard.usecases.access.api_keys import KeyRing
from tests.unit.cli.fakes import NOW_MS


class FakeKeys:
    def __init__(self) -> None:
        self.stages: dict[str, MemoryApiKeys] = {}
        self.clock = ManualClock(NOW_MS)
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None
        self._stage = ""

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[KeyRing]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        self._stage = stage
        keys = self.stages.setdefault(stage, MemoryApiKeys())
        yield KeyRing(keys=keys, ids=self, clock=self.clock)

    def new_secret(self) -> str:
        return f"from-{self._stage}"

    def new_job_id(self) -> str:
        raise NotImplementedError

    def new_worker_id(self) -> str:
        raise NotImplementedError
