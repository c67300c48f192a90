"""Inputs and outputs: small ones in the state table, larger ones in the bucket."""

import json
from collections.abc import Mapping, Sequence

from switchyard.adapters.dynamodb.items import DATA_PREFIX, data_key
from switchyard.adapters.dynamodb.table import DynamoDbTable, Item
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.task import Json, Payload
from switchyard.ports import BlobStore


class DynamoDbPayloads:
    def __init__(self, table: DynamoDbTable, blobs: BlobStore) -> None:
        self._table = table
        self._blobs = blobs

    def read(self, ref: TaskRef) -> Payload:
        item = self._table.get(data_key(ref))
        if item is None:
            return Payload()
        return Payload(
            input=json.loads(item["input"]),
            depends_on=tuple(item["depends_on"]),
            output=self._output(item),
        )

    def outputs(self, job: JobRef, task_ids: Sequence[str]) -> Mapping[str, Json]:
        items = self._table.get_many([data_key(job.task(task_id)) for task_id in task_ids])
        by_task = {item["SK"].removeprefix(DATA_PREFIX): item for item in items}
        return {
            task_id: self._output(by_task[task_id])
            for task_id in task_ids
            if task_id in by_task and {"output", "output_key"} & by_task[task_id].keys()
        }

    def _output(self, item: Item) -> Json:
        if "output_key" in item:
            return json.loads(self._blobs.get(item["output_key"]))
        return json.loads(item["output"]) if "output" in item else None
