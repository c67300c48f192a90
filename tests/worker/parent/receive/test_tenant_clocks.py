"""Clocks are read and charges are written at most once a second, and nothing of them is lost."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.ports import GroupClocks
from switchyard.testing import ManualClock
from switchyard.testing.scheduling import MemoryTenantClocks
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.receive.tenant_clocks import ClocksOfGroups
from tests.builders import NOW_MS, a_task
from tests.worker.harness import NoDelay
from tests.worker.parent.receive.token_harness import at_once


class Counted(MemoryTenantClocks):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.outage = False

    def of_group(self, group: str) -> GroupClocks:
        self.calls.append("read")
        return super().of_group(group)

    def charge(self, group: str, charges: Mapping[str, float]) -> None:
        self.calls.append("charge")
        if self.outage:
            raise Unavailable("throttled")
        super().charge(group, charges)

    def catch_up(self, group: str, tenant: str) -> None:
        self.calls.append("catch up")
        super().catch_up(group, tenant)


class Stage:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.stored = Counted()
        runtime = Runtime(
            clock=self.clock, sleep=self._sleep, offload=at_once, randomness=NoDelay()
        )
        self.clocks = ClocksOfGroups(runtime, self.stored, usd_per_slot_hour=0.0)
        self.slept = 0

    async def _sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.slept += 1
        await asyncio.sleep(0)

    def keep_for(self, seconds: int, story: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await story()
            keeping = asyncio.create_task(self.clocks.keep())
            for _ in range(10 * seconds):
                await asyncio.sleep(0)
            keeping.cancel()
            await asyncio.wait({keeping})

        asyncio.run(run())

    def clock_of(self, tenant: str) -> float:
        (found,) = [one for one in self.stored.of_group("g").tenants if one.tenant == tenant]
        return found.clock


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_clocks_are_read_once_a_second(stage: Stage) -> None:
    async def story() -> None:
        for seconds in (0, 0.5, 0.4, 0.2):
            stage.clock.advance(seconds)
            await stage.clocks.read("g")

    asyncio.run(story())

    assert stage.stored.calls == ["read", "read"]


def test_charges_are_added_up_and_written_together(stage: Stage) -> None:
    stage.stored.mark("g", "acme", now_ms=NOW_MS)
    stage.stored.note_cost("g", 6.0, 3)

    async def story() -> None:
        await stage.clocks.read("g")
        charges = [stage.clocks.charge("g", a_task(f"t{number}")) for number in range(5)]
        for charge in charges:
            stage.clocks.settle(charge, model_usd=1.0, slot_seconds=0.0)

    stage.keep_for(2, story)

    assert stage.stored.calls.count("charge") == 1
    assert stage.clock_of("acme") == pytest.approx(5.0)
    assert stage.stored.of_group("g").mean_cost_usd == pytest.approx(11 / 8)


def test_a_charge_counts_before_it_is_written(stage: Stage) -> None:
    for tenant in ("acme", "brass"):
        stage.stored.mark("g", tenant, now_ms=NOW_MS)

    async def story() -> None:
        await stage.clocks.read("g")
        stage.clocks.charge("g", a_task())

    asyncio.run(story())

    assert stage.clocks.in_order("g") == ["brass", "acme"]


def test_charges_outlive_an_outage(stage: Stage) -> None:
    stage.stored.mark("g", "acme", now_ms=NOW_MS)
    stage.stored.outage = True

    async def story() -> None:
        await stage.clocks.read("g")
        charge = stage.clocks.charge("g", a_task())
        stage.clocks.settle(charge, model_usd=2.0, slot_seconds=0.0)

    stage.keep_for(1, story)
    stage.stored.outage = False

    async def nothing() -> None: ...

    stage.keep_for(1, nothing)
    assert stage.clock_of("acme") == pytest.approx(2.0)


def test_who_comes_back_begins_at_the_floor(stage: Stage) -> None:
    for tenant in ("acme", "brass"):
        stage.stored.mark("g", tenant, now_ms=NOW_MS)
    stage.stored.charge("g", {"acme": 9.0})

    async def story() -> None:
        await stage.clocks.read("g")
        await stage.clocks.choose("g", "acme", passed_over=["brass"])
        stage.stored.raise_floor("g", 9.0)
        await stage.clocks.choose("g", "brass", passed_over=[])

    asyncio.run(story())

    assert stage.stored.calls[-1] == "catch up"
    assert stage.clock_of("brass") == 9.0
