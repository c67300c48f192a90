"""The triggers of a stage, as operators see them."""

from collections.abc import Iterator
from contextlib import contextmanager

from local.endpoint import Endpoint
from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.tenants import MemoryTenantStore
from switchyard.adapters.memory.transport import MemoryMail, MemoryTaskQueue
from switchyard.adapters.memory.triggers import MemoryTriggerRules, MemoryTriggerStore
from switchyard.contracts.triggers import TriggerMessage, parse_trigger_message
from switchyard.domain.errors import Unavailable
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.triggers.operate_triggers import TriggerOperator
from tests.unit.cli.fakes import NOW_MS

QUEUE = "switchyard-dev-trigger-queue"


class FakeDesk:
    def __init__(self) -> None:
        self.store = MemoryTriggerStore()
        self.tenant_store = MemoryTenantStore()
        self.rules = MemoryTriggerRules()
        self.queue = MemoryTaskQueue(ManualClock(NOW_MS))
        self.asked: list[tuple[str, str | None]] = []
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[TriggerOperator]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield TriggerOperator(
            stage=stage,
            store=self.store,
            tenants=self.tenant_store,
            rules=self.rules,
            mail=MemoryMail({QUEUE: self.queue}),
            queue=QUEUE,
            clock=ManualClock(NOW_MS),
        )

    @contextmanager
    def tenants(self, stage: str, local: Endpoint | None) -> Iterator[TenantOperator]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield TenantOperator(store=self.tenant_store)

    def sent(self) -> list[TriggerMessage]:
        received = self.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=99)
        return [parse_trigger_message(message.body) for message in received]
