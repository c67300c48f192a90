"""Names that were used, in the state table, which forgets them by itself, sooner or later."""

from switchyard.adapters.dynamodb.table import DynamoDbTable, key_item
from switchyard.contracts.tables import ONCE_PREFIX, TTL


class DynamoDbOnce:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def first(self, name: str, *, now_ms: int, keep_ms: int) -> bool:
        used = {**key_item((f"{ONCE_PREFIX}{name}", "ONCE")), TTL: (now_ms + keep_ms) // 1000 + 1}
        return self._table.put_new(used)
