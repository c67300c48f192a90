"""Items of tenants, in memory."""

from collections.abc import Iterator, Sequence
from typing import Final

from switchyard.contracts.tables import ALERTS_PARTITION, group_partition
from switchyard.domain.access.erasure import Table, TenantItem, is_alert_of

_ORDER: Final[tuple[Table, ...]] = ("keys", "definitions", "state", "events")


class MemoryTenantItems:
    def __init__(self, items: Sequence[TenantItem] = ()) -> None:
        self.items = list(items)

    def of_tenant(self, tenant: str) -> Iterator[TenantItem]:
        mine = [item for item in self.items if _is_of(tenant, item)]
        yield from sorted(mine, key=lambda item: _ORDER.index(item.table))

    def delete(self, items: Sequence[TenantItem]) -> None:
        gone = {(item.table, item.partition, item.sort) for item in items}
        self.items = [
            item for item in self.items if (item.table, item.partition, item.sort) not in gone
        ]


def _is_of(tenant: str, item: TenantItem) -> bool:
    if item.partition == ALERTS_PARTITION:
        return is_alert_of(tenant, item.sort)
    if item.partition.startswith(group_partition("")):
        return item.sort == f"TENANT#{tenant}"
    return f"{item.partition}#".startswith(f"TENANT#{tenant}#")
