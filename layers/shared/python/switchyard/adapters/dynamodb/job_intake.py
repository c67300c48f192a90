"""Writes new jobs into the state table, and inputs too large for an item into the bucket."""

from collections.abc import Iterator
from dataclasses import replace

from switchyard.adapters.dynamodb.items import (
    dependents_key,
    job_from,
    job_item,
    job_key,
    listing_attributes,
    task_item,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, key_item
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter, Write, write_of
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import Conflict, UnknownJob
from switchyard.domain.ids import START
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan
from switchyard.domain.states import JobState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import WRITING_SECONDS


class DynamoDbJobIntake:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._writer = TransitionWriter(table)
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
        answer = self._writer.write_job(job.ref, of_jobs.note_written(written))
        found = answer.found if isinstance(answer, TransitionRefused) else answer
        if found is None:
            raise UnknownJob(job.ref.job_id)
        return found

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        job = plan.job.ref
        opened = self._table.transact(
            _listed(plan.job, write_of(job, of_jobs.open_job(plan.job, now_ms=now_ms))),
            write_of(job.task(START), of_tasks.settle_start(now_ms=now_ms)),
        )
        if not opened and self._found(plan.job).state is JobState.WRITING:
            raise Conflict(f"{job.job_id} is not all written")

    def _stored(self, job: Job) -> Job:
        """Return this very submission's job as it is stored: now, or earlier."""
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
        """Make the data items together: each large input is a request to the bucket."""
        return self._table.parallel.each(
            lambda named: self._payloads.new_item(plan.job.ref.task(named[0]), named[1]),
            list(plan.payloads.items()),
        )


def _listed(job: Job, write: Write) -> Write:
    """Return the write with what lists the job."""
    key, update = write
    return key, replace(update, set={**update.set, **listing_attributes(job)})
