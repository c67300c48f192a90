"""Bare tasks into the state table; inputs too large for an item into the bucket."""

from switchyard.adapters.dynamodb.items import data_key, task_item, task_key
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.adoption import Adoption
from switchyard.domain.task import Payload


class DynamoDbTaskAdoption:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def adopt(self, adoption: Adoption) -> bool:
        ref = adoption.task.ref
        given = Payload(input=adoption.input, context=adoption.context)
        payload = self._payloads.new_item(ref, given)
        return self._table.transact(
            _new(task_key(ref), task_item(adoption.task)), _new(data_key(ref), payload)
        )


def _new(key: Key, item: Item) -> tuple[Key, Update]:
    attributes = {name: value for name, value in item.items() if name not in key_item(key)}
    return key, Update(set=attributes, condition="attribute_not_exists(#PK)")
