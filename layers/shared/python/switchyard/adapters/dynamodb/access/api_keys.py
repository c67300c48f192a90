"""API keys in a table: a tenant's are one partition, each under its hash."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import api_keys_partition
from switchyard.domain.access.api_keys import ApiKey, key_id
from switchyard.domain.errors import UnknownKey

_PREFIX: Final = "KEY#"
_TENANT, _KEYS = api_keys_partition("*").split("*")


class DynamoDbApiKeys:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def add(self, tenant: str, key_hash: str, *, label: str | None, now_ms: int) -> None:
        named = {"label": label} if label else {}
        self._table.put_new({**key_item(_key(tenant, key_hash)), "created_at_ms": now_ms, **named})

    def find(self, tenant: str, key_hash: str) -> ApiKey | None:
        item = self._table.get(_key(tenant, key_hash))
        return _api_key(item) if item else None

    def all(self, tenant: str) -> tuple[ApiKey, ...]:
        items = self._table.query(
            "#PK = :tenant AND begins_with(#SK, :keys)",
            {"tenant": api_keys_partition(tenant), "keys": _PREFIX},
        )
        return tuple(sorted(map(_api_key, items), key=lambda key: key.created_at_ms))

    def everyones(self) -> Iterator[tuple[str, ApiKey]]:
        for item in self._table.scan("begins_with(#SK, :keys)", {"keys": _PREFIX}):
            tenant = item["PK"].removeprefix(_TENANT).removesuffix(_KEYS)
            if item["PK"] == api_keys_partition(tenant):
                yield tenant, _api_key(item)

    def take_over(self, tenant: str, key: ApiKey) -> None:
        known = {name: value for name, value in asdict(key).items() if value is not None}
        del known["key_hash"]
        new = self._table.put_new({**key_item(_key(tenant, key.key_hash)), **known})
        if not new and key.revoked_at_ms is not None:
            self.revoke(tenant, key.key_hash, now_ms=key.revoked_at_ms)

    def delete(self, tenant: str, key_hash: str) -> None:
        self._table.delete(_key(tenant, key_hash))

    def revoke(self, tenant: str, key_hash: str, *, now_ms: int) -> ApiKey:
        answer = self._table.update(
            _key(tenant, key_hash),
            Update(
                set={"revoked_at_ms": now_ms},
                condition="attribute_exists(#PK) AND attribute_not_exists(#revoked_at_ms)",
            ),
        )
        item = answer.item if isinstance(answer, FailedCondition) else answer
        if item is None:
            raise UnknownKey(tenant, key_id(key_hash))
        return _api_key(item)

    def note_use(self, tenant: str, key_hash: str, *, day: str) -> None:
        self._table.update(
            _key(tenant, key_hash),
            Update(
                set={"last_used_on": day},
                condition="attribute_exists(#PK)"
                " AND (attribute_not_exists(#last_used_on) OR #last_used_on < :set_last_used_on)",
            ),
        )


def _api_key(item: Item) -> ApiKey:
    return ApiKey(
        key_hash=item["SK"].removeprefix(_PREFIX),
        created_at_ms=item["created_at_ms"],
        label=item.get("label"),
        last_used_on=item.get("last_used_on"),
        revoked_at_ms=item.get("revoked_at_ms"),
    )


def _key(tenant: str, key_hash: str) -> Key:
    return api_keys_partition(tenant), f"{_PREFIX}{key_hash}"
