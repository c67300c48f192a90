"""Bare tasks into the state table; inputs too large for an item into the bucket."""

from switchyard.adapters.dynamodb.items import task_item
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, as_new
from switchyard.domain.jobs.adoption import Adoption
from switchyard.domain.tasks.task import Payload


class DynamoDbTaskAdoption:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def adopt(self, adoption: Adoption) -> bool:
        ref = adoption.task.ref
        given = Payload(input=adoption.input, context=adoption.context)
        payload = self._payloads.new_item(ref, given)
        return self._table.transact(as_new(task_item(adoption.task)), as_new(payload))
