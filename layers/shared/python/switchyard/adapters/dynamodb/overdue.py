"""What is overdue, from the due index of the state table."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from switchyard.adapters.dynamodb.items import JOB_SORT_KEY, TASK_PREFIX, job_key, task_key
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.tables import DUE_AT, DUE_INDEX, DUE_SHARD
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.domain.tasks.task import Task
from switchyard.ports import PageOfOverdue

_PARTITION: Final = re.compile(r"TENANT#([^#]+)#JOB#([^#]+)")


class DynamoDbOverdue:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def page(self, shard: int, *, now_ms: int, limit: int, cursor: str | None) -> PageOfOverdue:
        start = {"ExclusiveStartKey": serialized(json.loads(cursor))} if cursor else {}
        page = next(
            self._table.pages(
                f"#{DUE_SHARD} = :shard AND #{DUE_AT} <= :now",
                {"shard": shard, "now": now_ms},
                IndexName=DUE_INDEX,
                Limit=limit,
                **start,
            )
        )
        last = page.get("LastEvaluatedKey")
        return PageOfOverdue(
            refs=tuple(ref_of(deserialized(item)) for item in page["Items"]),
            cursor=json.dumps(deserialized(last)) if last else None,
        )

    def move_due(self, overdue: Task | Job, due_at_ms: int, *, count: bool = False) -> bool:
        answer = self._table.update(
            _key(overdue),
            Update(
                set={DUE_AT: due_at_ms},
                add={"resends": 1} if count else {},
                condition=f"#{DUE_AT} = :old",
                values={"old": overdue.due_at_ms},
            ),
        )
        return not isinstance(answer, Refusal)

    def abandon(self, job: Job) -> bool:
        answer = self._table.update(
            job_key(job.ref),
            Update(
                remove=(DUE_SHARD, DUE_AT),
                condition=f"#state = :writing AND #{DUE_AT} = :old",
                values={"writing": JobState.WRITING, "old": job.due_at_ms},
            ),
        )
        return not isinstance(answer, Refusal)


def _key(overdue: Task | Job) -> Key:
    return task_key(overdue.ref) if isinstance(overdue, Task) else job_key(overdue.ref)


def job_of(item: Mapping[str, Any]) -> JobRef:
    match = _PARTITION.fullmatch(item["PK"])
    if not match:
        raise ValueError(f"{item['PK']!r} is not the partition of a job")
    return JobRef(match[1], match[2])


def ref_of(item: Mapping[str, Any]) -> TaskRef | JobRef:
    job = job_of(item)
    if item["SK"] == JOB_SORT_KEY:
        return job
    return job.task(item["SK"].removeprefix(TASK_PREFIX))
