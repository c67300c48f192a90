"""API keys in the state table: a tenant's are one partition, each under its hash."""

from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import api_keys_partition
from switchyard.domain.access.api_keys import ApiKey, key_id
from switchyard.domain.errors import UnknownKey

_PREFIX: Final = "KEY#"


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

    def revoke(self, tenant: str, key_hash: str, *, now_ms: int) -> ApiKey:
        answer = self._table.update(
            _key(tenant, key_hash),
            Update(
                set={"revoked_at_ms": now_ms},
                condition="attribute_exists(#PK) AND attribute_not_exists(#revoked_at_ms)",
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
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
