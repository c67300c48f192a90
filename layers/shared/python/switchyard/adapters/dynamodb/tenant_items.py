"""All items of a tenant, in the tables of a stage."""

from collections.abc import Iterator, Mapping, Sequence

from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.contracts.tables import ALERTS_PARTITION, api_keys_partition
from switchyard.domain.access.erasure import Table, TenantItem, is_alert_of


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
        """No index has all items of a tenant, so that the whole table is read."""
        mine = {"mine": f"TENANT#{tenant}#"}
        for item in self._tables["state"].scan("begins_with(#PK, :mine)", mine):
            yield TenantItem("state", item["PK"], item["SK"])
        for alert in self._query("state", ALERTS_PARTITION):
            if is_alert_of(tenant, alert.sort):
                yield alert

    def _query(self, table: Table, partition: str) -> Iterator[TenantItem]:
        for item in self._tables[table].query("#PK = :partition", {"partition": partition}):
            yield TenantItem(table, item["PK"], item["SK"], item.get("entityId"))
