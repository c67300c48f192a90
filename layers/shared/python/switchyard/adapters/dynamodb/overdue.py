"""What is overdue, from the due index of the state table."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from switchyard.adapters.dynamodb.items import JOB_SORT_KEY, TASK_PREFIX
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal
from switchyard.adapters.dynamodb.transition_writes import write_of
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.tables import DUE_AT, DUE_INDEX, DUE_SHARD
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import Transition
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
        if isinstance(overdue, Job):
            return self._write(overdue.ref, of_jobs.postpone(overdue, due_at_ms))
        return self._write(overdue.ref, of_tasks.postpone(overdue, due_at_ms, count=count))

    def abandon(self, job: Job) -> bool:
        return self._write(job.ref, of_jobs.abandon(job))

    def _write(self, ref: TaskRef | JobRef, transition: Transition) -> bool:
        return not isinstance(self._table.update(*write_of(ref, transition)), Refusal)


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
