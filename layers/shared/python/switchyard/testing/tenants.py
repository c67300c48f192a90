"""Tenants' settings, and the items of tenants, in memory."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from switchyard.contracts.tables import ALERTS_PARTITION, group_partition
from switchyard.domain.access.erasure import Table, TenantItem, is_alert_of
from switchyard.domain.access.tenants import NO_SETTINGS, TenantSettings

_ORDER: Final[tuple[Table, ...]] = ("keys", "definitions", "state", "events")


class MemoryTenantStore:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settings: dict[str, TenantSettings] = {}

    def find(self, tenant: str) -> TenantSettings:
        return self._settings.get(tenant, NO_SETTINGS)

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        with self._lock:
            known = self.find(tenant)
            if slack_channels is not None:
                known = replace(known, slack_channels=slack_channels)
            if slack_operators is not None:
                known = replace(known, slack_operators=slack_operators)
            self._settings[tenant] = known
            return known

    def all(self) -> Mapping[str, TenantSettings]:
        return dict(sorted(self._settings.items()))


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
