"""Jobs in the state table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    JOB_SORT_KEY,
    PICTURE_RANGE,
    STATES_ATTRIBUTES,
    STATES_RANGE,
    TASK_PREFIX,
    job_from,
    job_key,
    partition,
    state_of_task,
    task_from,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable, key_item
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter
from switchyard.adapters.dynamodb.values import Item, deserialized, serialized
from switchyard.contracts.tables import JOBS_INDEX, JOBS_ORDER, JOBS_TENANT
from switchyard.domain.errors import Rejected, UnknownJob
from switchyard.domain.ids import JOB_ID, JobRef
from switchyard.domain.jobs import transitions
from switchyard.domain.jobs.job import Job, JobPicture, JobStates
from switchyard.domain.jobs.relays import declared_parents
from switchyard.domain.states import JobState
from switchyard.domain.transition import Transition, TransitionRefused
from switchyard.ports import PageOfJobs

_CURSOR: Final = re.compile(rf"(\d{{13}})#({JOB_ID.pattern})")


class DynamoDbJobStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)

    def find(self, ref: JobRef) -> Job | None:
        item = self._table.get(job_key(ref))
        return job_from(item, ref.tenant) if item else None

    def find_many(self, refs: Sequence[JobRef]) -> Sequence[Job]:
        by_partition = {partition(ref): ref for ref in refs}
        items = self._table.get_many([job_key(ref) for ref in refs])
        return [job_from(item, by_partition[item["PK"]].tenant) for item in items]

    def picture(self, ref: JobRef) -> JobPicture:
        items = list(self._table.query(_FROM_TO, _range(ref, PICTURE_RANGE)))
        return JobPicture(
            job=_job_in(items, ref),
            tasks=tuple(task_from(item, ref) for item in _tasks_in(items)),
            depends_on=_parents(items),
        )

    def states(self, ref: JobRef) -> JobStates:
        found = self._table.query_parts(_FROM_TO, _range(ref, STATES_RANGE), STATES_ATTRIBUTES)
        items = list(found)
        tasks = tuple(state_of_task(item, ref) for item in _tasks_in(items))
        return JobStates(job=_job_in(items, ref), tasks=tasks)

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        options: dict[str, Any] = {"ExclusiveStartKey": _start(tenant, cursor)} if cursor else {}
        page = next(
            self._table.pages(
                f"#{JOBS_TENANT} = :tenant",
                {"tenant": tenant},
                IndexName=JOBS_INDEX,
                ScanIndexForward=False,
                Limit=limit,
                **options,
            )
        )
        items = [deserialized(item) for item in page["Items"]]
        more = items and "LastEvaluatedKey" in page
        return PageOfJobs(
            jobs=tuple(job_from(item, tenant) for item in items),
            cursor=items[-1][JOBS_ORDER] if more else None,
        )

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        return self._write(job.ref, transitions.note_failure(job, task_id=task_id, now_ms=now_ms))

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        return self._write(job.ref, transitions.settle(job, state, now_ms=now_ms))

    def _write(self, ref: JobRef, transition: Transition) -> Job:
        """Return the job as it is, written or not."""
        answer = self._writer.write_job(ref, transition)
        job = answer.found if isinstance(answer, TransitionRefused) else answer
        if job is None:
            raise UnknownJob(ref.job_id)
        return job


_FROM_TO: Final = "#PK = :job AND #SK BETWEEN :first AND :last"


def _range(ref: JobRef, names: tuple[str, str]) -> Item:
    first, last = names
    return {"job": partition(ref), "first": first, "last": last}


def _job_in(items: Iterable[Item], ref: JobRef) -> Job:
    for item in items:
        if item["SK"] == JOB_SORT_KEY:
            return job_from(item, ref.tenant)
    raise UnknownJob(ref.job_id)


def _tasks_in(items: Iterable[Item]) -> Iterator[Item]:
    return (item for item in items if item["SK"].startswith(TASK_PREFIX))


def _parents(items: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    return declared_parents(
        {
            item["SK"].removeprefix(DEPENDENTS_PREFIX): item["tasks"]
            for item in items
            if item["SK"].startswith(DEPENDENTS_PREFIX)
        }
    )


def _start(tenant: str, cursor: str) -> Item:
    match = _CURSOR.fullmatch(cursor)
    if not match:
        raise Rejected("cursor: not one that a listing returned")
    job = JobRef(tenant, match[2])
    return serialized({**key_item(job_key(job)), JOBS_TENANT: tenant, JOBS_ORDER: cursor})
