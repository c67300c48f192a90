"""Reads tenants' clocks for all slots of a worker, and writes what their tasks are charged.

Clocks are read at most once a second, and charges are added up for a second.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.scheduling.clocks import (
    ExpectedCosts,
    Group,
    TenantClock,
    charge_of,
    correction_of,
    cost_of,
)
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import GroupClocks, TenantClocks
from switchyard_worker.parent.coroutines import Runtime

logger = get_logger("worker")

CACHE_SECONDS: Final = 1.0
SELDOM_SECONDS: Final = 10.0
"""How often means are written, and the floor of a group with one tenant: nobody waits for them."""


@dataclass
class _Known:
    """A group as it was read, with what was charged since; and what is not written yet."""

    group: Group = field(default_factory=Group)
    marked: tuple[str, ...] = ()
    """The tenants that may have work."""
    read_at: float = float("-inf")
    charges: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    floor: float | None = None
    cost_usd: float = 0.0
    tasks: int = 0
    written_at: float = float("-inf")
    """When what is seldom written was written last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a task was charged when it was claimed."""

    group: str
    tenant: str
    definition: str
    expected_usd: float
    weight: float


class ClocksOfGroups:
    def __init__(self, runtime: Runtime, clocks: TenantClocks, *, usd_per_slot_hour: float) -> None:
        self._runtime = runtime
        self._clocks = clocks
        self._usd_per_slot_hour = usd_per_slot_hour
        self._groups: dict[str, _Known] = defaultdict(_Known)
        self._costs = ExpectedCosts()
        self._some = asyncio.Event()
        self._reading = asyncio.Lock()

    async def read(self, group: str) -> Group:
        """Return the clocks of a group, at most a second old. Raise `Unavailable`."""
        async with self._reading:
            known = self._groups[group]
            now = self._runtime.clock.monotonic()
            if now - known.read_at >= CACHE_SECONDS:
                read = await self._runtime.offload(self._clocks.of_group, group)
                known.group = _as_group(read, before=known)
                known.marked = tuple(t.tenant for t in read.tenants if t.marked_at_ms is not None)
                known.read_at = now
            return known.group

    def in_order(self, group: str) -> list[str]:
        """Return the tenants that may have work, as read before, the one that is next first."""
        known = self._groups[group]
        return [tenant for tenant in known.group.in_order() if tenant in known.marked]

    async def choose(self, group: str, tenant: str, *, passed_over: Iterable[str]) -> None:
        """Note whose task was claimed, and who had none: who comes back begins at the floor."""
        known = self._groups[group]
        before = known.group.tenants.get(tenant)
        known.group = known.group.chosen(tenant, passed_over=passed_over)
        known.floor = known.group.floor
        self._some.set()
        if before and before.idle and before.clock < known.group.clock_of(tenant):
            try:
                await self._runtime.offload(self._clocks.catch_up, group, tenant)
            except Unavailable as outage:
                logger.warning("clock is not raised", extra={"error": str(outage)})

    def charge(self, group: str, task: Task) -> Charge:
        """Charge what the task is expected to cost."""
        known, tenant = self._groups[group], task.ref.tenant
        found = known.group.tenants.get(tenant)
        charge = Charge(
            group=group,
            tenant=tenant,
            definition=task.definition,
            expected_usd=self._costs.expected(
                tenant, task.definition, mean_usd=known.group.mean_cost_usd
            ),
            weight=found.weight if found else 1.0,
        )
        self._add(charge, charge_of(charge.expected_usd, weight=charge.weight))
        return charge

    def settle(self, charge: Charge, *, model_usd: float, slot_seconds: float) -> None:
        """Charge the difference to what the attempt cost."""
        cost = cost_of(
            model_usd, slot_seconds=slot_seconds, usd_per_slot_hour=self._usd_per_slot_hour
        )
        self._costs.note(charge.tenant, charge.definition, cost)
        known = self._groups[charge.group]
        known.cost_usd += cost
        known.tasks += 1
        self._add(charge, correction_of(charge.expected_usd, cost, weight=charge.weight))

    async def keep(self) -> None:
        """Write charges until this is cancelled, and then what is left."""
        try:
            while True:
                await self._some.wait()
                await self._runtime.sleep(CACHE_SECONDS)
                self._some.clear()
                await self._write(seldom=False)
        finally:
            await self._write(seldom=True)

    def _add(self, charge: Charge, amount: float) -> None:
        known = self._groups[charge.group]
        known.group = known.group.charged(charge.tenant, amount)
        known.charges[charge.tenant] += amount
        self._some.set()

    async def _write(self, *, seldom: bool) -> None:
        try:
            for name, known in self._groups.items():
                await self._write_group(name, known, seldom=seldom)
        except Unavailable as outage:  # what is not written yet is written with the next
            logger.warning("charges are not written", extra={"error": str(outage)})

    async def _write_group(self, name: str, known: _Known, *, seldom: bool) -> None:
        charges, known.charges = known.charges, defaultdict(float)
        try:
            if charges:
                await self._runtime.offload(self._clocks.charge, name, charges)
        except Unavailable:
            for tenant, amount in charges.items():
                known.charges[tenant] += amount
            raise
        now = self._runtime.clock.monotonic()
        seldom = seldom or now - known.written_at >= SELDOM_SECONDS
        if known.floor is not None and (seldom or len(known.marked) > 1):
            floor, known.floor = known.floor, None
            await self._runtime.offload(self._clocks.raise_floor, name, floor)
        if known.tasks and seldom:
            cost, tasks = known.cost_usd, known.tasks
            known.cost_usd, known.tasks, known.written_at = 0.0, 0, now
            await self._runtime.offload(self._clocks.note_cost, name, cost, tasks)


def _as_group(read: GroupClocks, *, before: _Known) -> Group:
    """Add what is not written yet, and remember who had no work."""
    tenants = [
        TenantClock(
            tenant=one.tenant,
            clock=one.clock + before.charges.get(one.tenant, 0.0),
            weight=one.weight,
            idle=before.group.is_idle(one.tenant),
        )
        for one in read.tenants
    ]
    floor = max(read.floor, before.floor or 0.0)
    return Group.of(tenants, floor=floor, mean_cost_usd=read.mean_cost_usd)
