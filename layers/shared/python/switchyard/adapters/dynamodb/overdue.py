"""Reads of the index of due items: what is overdue, and which tasks are unsettled."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from switchyard.adapters.dynamodb.items import JOB_SORT_KEY, TASK_PREFIX, task_from, task_key
from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition
from switchyard.adapters.dynamodb.transition_writes import write_of
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.tables import DUE_AT, DUE_INDEX, DUE_SHARD
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import Transition
from switchyard.ports import PageOfOverdue, PageOfUnsettled, UnsettledTask

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
        return not isinstance(self._table.update(*write_of(ref, transition)), FailedCondition)


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
    """Return the row of an unsettled task; `None` for a job."""
    ref = ref_of(item)
    if not isinstance(ref, TaskRef):
        return None
    return UnsettledTask(
        ref=ref,
        state=TaskState(item["state"]),
        ready_at_ms=item.get("ready_at_ms"),
        started_at_ms=item.get("started_at_ms"),
    )
