"""Marks and clocks of tenants in a group, in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from switchyard.ports import GroupClocks, TenantInGroup


@dataclass
class _Group:
    tenants: dict[str, TenantInGroup] = field(default_factory=dict)
    floor: float = 0.0
    cost_usd: float = 0.0
    tasks: int = 0


class MemoryTenantClocks:
    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def of_group(self, group: str) -> GroupClocks:
        found = self._group(group)
        return GroupClocks(
            tenants=tuple(found.tenants[name] for name in sorted(found.tenants)),
            floor=found.floor,
            mean_cost_usd=found.cost_usd / found.tasks if found.tasks else None,
        )

    def mark(self, group: str, tenant: str, *, now_ms: int) -> None:
        before = self._tenant(group, tenant)
        if before.marked_at_ms is None:
            self.catch_up(group, tenant)
        latest = max(now_ms, before.marked_at_ms or now_ms)
        self._set(group, replace(self._tenant(group, tenant), marked_at_ms=latest))

    def unmark(self, group: str, tenant: str, *, marked_at_ms: int) -> bool:
        before = self._tenant(group, tenant)
        if before.marked_at_ms != marked_at_ms:
            return False
        self._set(group, replace(before, marked_at_ms=None))
        return True

    def catch_up(self, group: str, tenant: str) -> None:
        before = self._tenant(group, tenant)
        self._set(group, replace(before, clock=max(before.clock, self._group(group).floor)))

    def weigh(self, group: str, tenant: str, weight: float) -> None:
        self._set(group, replace(self._tenant(group, tenant), weight=weight))

    def charge(self, group: str, charges: Mapping[str, float]) -> None:
        for tenant, more in charges.items():
            before = self._tenant(group, tenant)
            self._set(group, replace(before, clock=before.clock + more))

    def raise_floor(self, group: str, clock: float) -> None:
        found = self._group(group)
        found.floor = max(found.floor, clock)

    def note_cost(self, group: str, dollars: float, tasks: int) -> None:
        found = self._group(group)
        found.cost_usd += dollars
        found.tasks += tasks

    def _group(self, group: str) -> _Group:
        return self._groups.setdefault(group, _Group())

    def _tenant(self, group: str, tenant: str) -> TenantInGroup:
        return self._group(group).tenants.get(tenant) or TenantInGroup(tenant=tenant)

    def _set(self, group: str, tenant: TenantInGroup) -> None:
        self._group(group).tenants[tenant.tenant] = tenant
