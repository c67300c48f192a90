"""New jobs into the state table; inputs too large for an item into the bucket."""

from collections.abc import Iterator

from switchyard.adapters.dynamodb.items import (
    dependents_key,
    due_attributes,
    job_from,
    job_item,
    job_key,
    listing_attributes,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import Conflict, UnknownJob
from switchyard.domain.ids import START
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.ports import WRITING_SECONDS


class DynamoDbJobIntake:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def write(self, plan: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:
        if self._stored(plan.job).state is JobState.WRITING:
            self.write_part(plan, seconds=seconds)

    def accept(self, job: Job) -> None:
        if self._stored(job).document_key != job.document_key:
            raise Conflict(f"{job.ref.job_id} is being written elsewhere")

    def write_part(self, part: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:
        self._table.put_many([*self._items(part), *self._data(part)], seconds=seconds)

    def note_written(self, job: Job, written: int) -> Job:
        answer = self._table.update(
            job_key(job.ref),
            Update(
                set={"written": written},
                condition="#state = :writing"
                " AND (attribute_not_exists(#written) OR #written < :more)",
                values={"writing": JobState.WRITING, "more": written},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        if item is None:
            raise UnknownJob(job.ref.job_id)
        return job_from(item, job.ref.tenant)

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        job, start = plan.job.ref, plan.job.ref.task(START)
        opened = self._table.transact(
            (
                job_key(job),
                Update(
                    set={"state": JobState.OPEN}
                    | listing_attributes(plan.job)
                    | due_attributes(job.job_id, now_ms + due.JOB_AUDIT),
                    condition="#state = :writing AND #created_at_ms = :created",
                    values={"writing": JobState.WRITING, "created": plan.job.created_at_ms},
                ),
            ),
            (
                task_key(start),
                Update(
                    set={"state": TaskState.COMPLETED, "settled_at_ms": now_ms}
                    | due_attributes(start.request_id, now_ms + due.AFTER_SETTLING),
                    add={"fence": 1},
                    condition="#state = :waiting",
                    values={"waiting": TaskState.WAITING},
                ),
            ),
        )
        if not opened and self._found(plan.job).state is JobState.WRITING:
            raise Conflict(f"{job.job_id} is not all written")

    def _stored(self, job: Job) -> Job:
        """This very submission's job, as it is: put now, or earlier."""
        return job if self._table.put_new(job_item(job)) else self._found(job)

    def _found(self, job: Job) -> Job:
        item = self._table.get(job_key(job.ref))
        if item is None or item["created_at_ms"] != job.created_at_ms:
            raise Conflict(f"{job.ref.job_id} is not of this submission")
        return job_from(item, job.ref.tenant)

    def _items(self, plan: JobPlan) -> Iterator[Item]:
        job = plan.job.ref
        yield from (task_item(task) for task in plan.tasks)
        for task_id, dependents in plan.dependents.items():
            yield {**key_item(dependents_key(job.task(task_id))), "tasks": list(dependents)}

    def _data(self, plan: JobPlan) -> list[Item]:
        """Together: each large input is a request to the bucket."""
        return self._table.workforce.each(
            lambda named: self._payloads.new_item(plan.job.ref.task(named[0]), named[1]),
            list(plan.payloads.items()),
        )
