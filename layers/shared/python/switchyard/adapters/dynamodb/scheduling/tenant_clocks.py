"""Marks and clocks of tenants in a group: one item each, all of a group in one partition."""

from collections.abc import Mapping
from typing import Any, Final

from switchyard.adapters.dynamodb.table import (
    WHATEVER_IS_THERE,
    DynamoDbTable,
    FailedCondition,
    Key,
    Update,
)
from switchyard.contracts.tables import group_partition
from switchyard.domain.errors import Unavailable
from switchyard.ports import GroupClocks, TenantInGroup

_TENANT_PREFIX: Final = "TENANT#"
_FLOOR: Final = "FLOOR"
TRIES: Final = 5


class DynamoDbTenantClocks:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def of_group(self, group: str) -> GroupClocks:
        values = {"group": group_partition(group)}
        items = {item["SK"]: item for item in self._table.query("#PK = :group", values)}
        whole = items.pop(_FLOOR, {})
        tasks = whole.get("tasks", 0)
        return GroupClocks(
            tenants=tuple(_tenant(items[name]) for name in sorted(items)),
            floor=float(whole.get("floor", 0.0)),
            mean_cost_usd=whole.get("cost_usd", 0.0) / tasks if tasks else None,
        )

    def mark(self, group: str, tenant: str, *, now_ms: int) -> None:
        """Set the mark of one that has one in a single write; else its clock is looked at."""
        key = _key(group, tenant)
        later = Update(
            set={"marked_at_ms": now_ms},
            condition="#marked_at_ms < :now",
            values={"now": now_ms},
        )
        for _ in range(TRIES):
            answer = self._table.update(key, later)
            if not isinstance(answer, FailedCondition):
                return
            before = answer.item or {}
            if "marked_at_ms" in before or self._begin(group, key, before, now_ms):
                return
        raise Unavailable(f"the mark of {tenant} in {group} is contended")

    def _begin(self, group: str, key: Key, before: Mapping[str, Any], now_ms: int) -> bool:
        clock = before.get("clock")
        beginning = max(float(clock or 0.0), self._floor(group))
        same = "#clock = :clock" if clock is not None else "attribute_not_exists(#clock)"
        update = Update(
            set={"marked_at_ms": now_ms, "clock": beginning},
            condition=f"attribute_not_exists(#marked_at_ms) AND {same}",
            values={} if clock is None else {"clock": clock},
        )
        return not isinstance(self._table.update(key, update), FailedCondition)

    def unmark(self, group: str, tenant: str, *, marked_at_ms: int) -> bool:
        update = Update(
            remove=("marked_at_ms",),
            condition="#marked_at_ms = :marked",
            values={"marked": marked_at_ms},
        )
        answer = self._table.update(_key(group, tenant), update)
        return not isinstance(answer, FailedCondition)

    def catch_up(self, group: str, tenant: str) -> None:
        self._raise(_key(group, tenant), "clock", self._floor(group))

    def weigh(self, group: str, tenant: str, weight: float) -> None:
        update = Update(set={"weight": weight}, condition=WHATEVER_IS_THERE)
        self._table.update(_key(group, tenant), update)

    def charge(self, group: str, charges: Mapping[str, float]) -> None:
        for tenant, more in charges.items():
            update = Update(add={"clock": more}, condition=WHATEVER_IS_THERE)
            self._table.update(_key(group, tenant), update)

    def raise_floor(self, group: str, clock: float) -> None:
        self._raise((group_partition(group), _FLOOR), "floor", clock)

    def note_cost(self, group: str, dollars: float, tasks: int) -> None:
        more = {"cost_usd": dollars, "tasks": tasks}
        update = Update(add=more, condition=WHATEVER_IS_THERE)
        self._table.update((group_partition(group), _FLOOR), update)

    def _floor(self, group: str) -> float:
        item = self._table.get((group_partition(group), _FLOOR)) or {}
        return float(item.get("floor", 0.0))

    def _raise(self, key: Key, name: str, value: float) -> None:
        update = Update(
            set={name: value},
            condition=f"attribute_not_exists(#{name}) OR #{name} < :value",
            values={"value": value},
        )
        self._table.update(key, update)


def _key(group: str, tenant: str) -> Key:
    return group_partition(group), f"{_TENANT_PREFIX}{tenant}"


def _tenant(item: Mapping[str, Any]) -> TenantInGroup:
    return TenantInGroup(
        tenant=item["SK"].removeprefix(_TENANT_PREFIX),
        clock=float(item.get("clock", 0.0)),
        weight=float(item.get("weight", 1.0)),
        marked_at_ms=item.get("marked_at_ms"),
    )
