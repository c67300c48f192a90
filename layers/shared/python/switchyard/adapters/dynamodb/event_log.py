"""The event log: written once per event, however often it is delivered; read to the end."""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.adapters.dynamodb.items import json_text
from switchyard.adapters.dynamodb.table import DynamoDbTable, Item
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.contracts.events import FREE_FORM, KeptEvent
from switchyard.contracts.tables import event_index_name
from switchyard.domain.event_queries import EventQuery


class DynamoDbEventLog:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def append(self, record: Mapping[str, Any]) -> None:
        self._table.put_new(_stored(record))


class DynamoDbEventReader:
    def __init__(self, table: DynamoDbTable, overflow: EventOverflow) -> None:
        self._table = table
        self._overflow = overflow

    def read(self, query: EventQuery, *, full: bool = False) -> tuple[KeptEvent, ...]:
        items = self._items(query)
        if full and query.summarised:
            items = self._table.get_many([(item["PK"], item["SK"]) for item in items])
        return tuple(sorted(map(self._kept, items), key=lambda event: event.order))

    def _items(self, query: EventQuery) -> list[Item]:
        partition, sort = query.key_names
        values = {
            "partition": query.partition,
            "low": query.low,
            "high": query.high,
            "tenant": query.tenant,
        }
        index = {"IndexName": event_index_name(query.index)} if query.index else {}
        return list(
            self._table.query(
                f"#{partition} = :partition AND #{sort} BETWEEN :low AND :high",
                values,
                FilterExpression="tenantId = :tenant",
                **index,
            )
        )

    def _kept(self, item: Item) -> KeptEvent:
        if "properties" not in item:
            return KeptEvent.model_validate(item)
        properties = self._overflow.put_back(_loaded(item["properties"]))
        return KeptEvent.model_validate({**item, "properties": properties})


# What producers and agents wrote is kept as JSON text: DynamoDB's numbers and nesting have limits
# that JSON does not have, and 1.0 would come back as 1.
def _stored(record: Mapping[str, Any]) -> Item:
    properties = record.get("properties", {})
    text = {name: json_text(properties[name]) for name in FREE_FORM if name in properties}
    return {**record, "properties": {**properties, **text}}


def _loaded(properties: Mapping[str, Any]) -> Item:
    return {
        name: json.loads(value) if name in FREE_FORM else value
        for name, value in properties.items()
    }
