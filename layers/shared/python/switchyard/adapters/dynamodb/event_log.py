"""The event log: written once per event, however often it is delivered; read by range."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from switchyard.adapters.dynamodb.items import json_text
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import Item
from switchyard.adapters.event_pages import EventPages
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.contracts.events import FREE_FORM
from switchyard.contracts.tables import event_index_name
from switchyard.domain.events.event_queries import EventQuery


class DynamoDbEventLog:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def append(self, record: Mapping[str, Any]) -> bool:
        return self._table.put_new(_stored(record))


class DynamoDbEventReader(EventPages):
    def __init__(self, table: DynamoDbTable, overflow: EventOverflow) -> None:
        super().__init__(overflow)
        self._table = table

    def _find(
        self, query: EventQuery, *, newest_first: bool, at_once: int | None
    ) -> Iterator[Item]:
        partition, sort = query.key_names
        values = {
            "partition": query.partition,
            "low": query.low,
            "high": query.high,
            "tenant": query.tenant,
        }
        index = {"IndexName": event_index_name(query.index)} if query.index else {}
        # Of a shared partition a small page might hold nothing but what others own.
        limit = {"Limit": at_once} if at_once and not query.shared else {}
        found = self._table.query(
            f"#{partition} = :partition AND #{sort} BETWEEN :low AND :high",
            values,
            FilterExpression="tenantId = :tenant",
            ScanIndexForward=not newest_first,
            **index,
            **limit,
        )
        return map(_loaded, found)

    def _whole(self, summaries: Sequence[Item]) -> Iterator[Item]:
        return map(_loaded, self._table.get_many([(s["PK"], s["SK"]) for s in summaries]))


# What producers and agents wrote is stored as JSON text: DynamoDB's numbers and nesting have limits
# that JSON does not have, and 1.0 would come back as 1.
def _stored(record: Mapping[str, Any]) -> Item:
    properties = record.get("properties", {})
    text = {name: json_text(properties[name]) for name in FREE_FORM if name in properties}
    return {**record, "properties": {**properties, **text}}


def _loaded(item: Item) -> Item:
    if "properties" not in item:
        return item
    properties = {
        name: json.loads(value) if name in FREE_FORM else value
        for name, value in item["properties"].items()
    }
    return {**item, "properties": properties}
