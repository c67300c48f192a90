"""Tenants' settings, and all items of a tenant in the tables of a stage."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from switchyard.adapters.dynamodb.table import (
    WHATEVER_IS_THERE,
    DynamoDbTable,
    FailedCondition,
    Key,
    Update,
)
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import (
    ALERTS_PARTITION,
    JOBS_INDEX,
    JOBS_ORDER,
    JOBS_TENANT,
    api_keys_partition,
    group_partition,
    tenant_settings_partition,
)
from switchyard.domain.access.erasure import Table, TenantItem, is_alert_of
from switchyard.domain.access.tenants import TenantSettings

_LISTED_UNDER: Final = "#TENANTS"
_LISTS: Final = ("slack_channels", "slack_operators")


class DynamoDbTenantStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def find(self, tenant: str) -> TenantSettings:
        return _settings(self._table.get(_key(tenant)) or {})

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        given = {"slack_channels": slack_channels, "slack_operators": slack_operators}
        changed = {name: list(value) for name, value in given.items() if value is not None}
        listed = {JOBS_TENANT: _LISTED_UNDER, JOBS_ORDER: tenant}
        answer = self._table.update(
            _key(tenant), Update(set={**changed, **listed}, condition=WHATEVER_IS_THERE)
        )
        return _settings({} if isinstance(answer, FailedCondition) else answer)

    def all(self) -> Mapping[str, TenantSettings]:
        listed = self._table.query(
            f"#{JOBS_TENANT} = :tenants", {"tenants": _LISTED_UNDER}, IndexName=JOBS_INDEX
        )
        tenants = [item[JOBS_ORDER] for item in listed]
        items = self._table.get_many([_key(tenant) for tenant in tenants])
        return {item[JOBS_ORDER]: _settings(item) for item in sorted(items, key=_order)}


def _key(tenant: str) -> Key:
    return tenant_settings_partition(tenant), "SETTINGS"


def _order(item: Item) -> str:
    return str(item[JOBS_ORDER])


def _settings(item: Item) -> TenantSettings:
    """Read what this version knows: a newer one may have set more."""
    return TenantSettings(**{name: tuple(item[name]) for name in _LISTS if name in item})


class DynamoDbTenantItems:
    def __init__(self, tables: Mapping[Table, DynamoDbTable]) -> None:
        self._tables = tables

    def of_tenant(self, tenant: str) -> Iterator[TenantItem]:
        yield from self._query("keys", api_keys_partition(tenant))
        yield from self._query("definitions", f"TENANT#{tenant}")
        yield from self._state(tenant)
        yield from self._query("events", f"TENANT#{tenant}")

    def delete(self, items: Sequence[TenantItem]) -> None:
        for item in items:
            self._tables[item.table].delete((item.partition, item.sort))

    def _state(self, tenant: str) -> Iterator[TenantItem]:
        """Read the whole table, since no index has all items of a tenant."""
        mine = {
            "mine": f"TENANT#{tenant}#",
            "groups": group_partition(""),
            "me": f"TENANT#{tenant}",
        }
        condition = "begins_with(#PK, :mine) OR (begins_with(#PK, :groups) AND #SK = :me)"
        for item in self._tables["state"].scan(condition, mine):
            yield TenantItem("state", item["PK"], item["SK"])
        for alert in self._query("state", ALERTS_PARTITION):
            if is_alert_of(tenant, alert.sort):
                yield alert

    def _query(self, table: Table, partition: str) -> Iterator[TenantItem]:
        for item in self._tables[table].query("#PK = :partition", {"partition": partition}):
            yield TenantItem(table, item["PK"], item["SK"], item.get("entityId"))
