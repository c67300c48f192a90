"""API keys in the state table, by hash."""

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, key_item


class DynamoDbApiKeys:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def add(self, tenant: str, key_hash: str, *, now_ms: int) -> None:
        self._table.put_new({**key_item(_key(tenant, key_hash)), "created_at_ms": now_ms})

    def knows(self, tenant: str, key_hash: str) -> bool:
        return self._table.get(_key(tenant, key_hash)) is not None


def _key(tenant: str, key_hash: str) -> Key:
    return f"TENANT#{tenant}#APIKEY#{key_hash}", "APIKEY"
