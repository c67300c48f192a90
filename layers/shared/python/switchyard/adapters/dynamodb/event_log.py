"""The event log: written once per event, however often it is delivered."""

from collections.abc import Mapping
from typing import Any

from switchyard.adapters.dynamodb.table import DynamoDbTable


class DynamoDbEventLog:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def append(self, record: Mapping[str, Any]) -> None:
        self._table.put(dict(record), condition="attribute_not_exists(#PK)")
