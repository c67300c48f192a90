"""What is under way, through the index of due times."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from switchyard.adapters.dynamodb.items import task_from, task_key
from switchyard.adapters.dynamodb.overdue import job_of, ref_of
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.tables import DUE_INDEX, DUE_SHARD
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import PageOfUnsettled, UnsettledTask


class DynamoDbUnsettled:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def page(self, shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
        start = {"ExclusiveStartKey": serialized(json.loads(cursor))} if cursor else {}
        page = next(
            self._table.pages(
                f"#{DUE_SHARD} = :shard",
                {"shard": shard},
                IndexName=DUE_INDEX,
                Limit=limit,
                **start,
            )
        )
        last = page.get("LastEvaluatedKey")
        rows = [_row(deserialized(item)) for item in page["Items"]]
        return PageOfUnsettled(
            tasks=tuple(row for row in rows if row is not None),
            cursor=json.dumps(deserialized(last)) if last else None,
        )

    def read(self, refs: Sequence[TaskRef]) -> tuple[Task, ...]:
        items = self._table.get_many([task_key(ref) for ref in refs])
        return tuple(task_from(item, job_of(item)) for item in items)


def _row(item: Mapping[str, Any]) -> UnsettledTask | None:
    """`None` for a job."""
    ref = ref_of(item)
    if not isinstance(ref, TaskRef):
        return None
    return UnsettledTask(
        ref=ref,
        state=TaskState(item["state"]),
        ready_at_ms=item.get("ready_at_ms"),
        started_at_ms=item.get("started_at_ms"),
    )
