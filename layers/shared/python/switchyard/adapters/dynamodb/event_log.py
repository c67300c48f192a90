"""The event log: written once per event, however often it is delivered."""

from collections.abc import Mapping
from typing import Any, Final

from switchyard.adapters.dynamodb.items import json_text
from switchyard.adapters.dynamodb.table import DynamoDbTable, Item

# What producers and agents wrote is kept as JSON text: DynamoDB's numbers and nesting have limits
# that JSON does not have, and 1.0 would come back as 1.
FREE_FORM: Final = ("input", "output", "claudeOutput", "tasks", "newTasks", "taskStatuses")


class DynamoDbEventLog:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def append(self, record: Mapping[str, Any]) -> None:
        self._table.put_new(_stored(record))


def _stored(record: Mapping[str, Any]) -> Item:
    properties = record.get("properties", {})
    text = {name: json_text(properties[name]) for name in FREE_FORM if name in properties}
    return {**record, "properties": {**properties, **text}}
