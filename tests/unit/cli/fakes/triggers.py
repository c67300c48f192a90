"""The triggers of a stage, as operators see them."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.contracts.triggers import TriggerMessage, parse_trigger_message
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock
from switchyard.testing.registry import MemoryDefinitionStore
from switchyard.testing.scheduling import MemoryTenantClocks
from switchyard.testing.tenants import MemoryTenantItems, MemoryTenantStore
from switchyard.testing.transport import MemoryBlobStore, MemoryQueueSender, MemoryTaskQueue
from switchyard.testing.triggers import MemoryTriggerRules, MemoryTriggerStore
from switchyard.usecases.access.erase_tenant import TenantEraser
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.triggers.operate_triggers import TriggerOperator
from switchyard_local.endpoint import Endpoint
from tests.unit.cli.fakes.api import NOW_MS

QUEUE = "switchyard-dev-trigger-queue"


class FakeTriggers:
    def __init__(self) -> None:
        self.store = MemoryTriggerStore()
        self.tenant_store = MemoryTenantStore()
        self.tenant_clocks = MemoryTenantClocks()
        self.definitions = MemoryDefinitionStore()
        self.items = MemoryTenantItems()
        self.blobs = MemoryBlobStore()
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
            definitions=self.definitions,
            ceilings=WIDEST_CEILINGS,
            rules=self.rules,
            queue_sender=MemoryQueueSender({QUEUE: self.queue}),
            queue=QUEUE,
            clock=ManualClock(NOW_MS),
        )

    @contextmanager
    def tenants(self, stage: str, local: Endpoint | None) -> Iterator[TenantOperator]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield TenantOperator(store=self.tenant_store, clocks=self.tenant_clocks)

    @contextmanager
    def eraser(self, stage: str, local: Endpoint | None) -> Iterator[TenantEraser]:
        with self(stage, local) as triggers:
            yield TenantEraser(items=self.items, blobs=self.blobs, triggers=triggers)

    def sent(self) -> list[TriggerMessage]:
        received = self.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=99)
        return [parse_trigger_message(message.body) for message in received]
