"""New jobs into the state table; inputs too large for an item into the bucket."""

from collections.abc import Iterator

from switchyard.adapters.dynamodb.items import (
    dependents_key,
    due_attributes,
    job_item,
    job_key,
    listing_attributes,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain import due
from switchyard.domain.errors import Conflict
from switchyard.domain.ids import START
from switchyard.domain.plan import JobPlan
from switchyard.domain.states import JobState, TaskState


class DynamoDbJobIntake:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def write(self, plan: JobPlan) -> None:
        if not self._table.put_new(job_item(plan.job)) and not self._is_ours(plan):
            raise Conflict(f"{plan.job.ref.job_id} exists already")
        self._table.put_many(list(self._items(plan)))

    def _is_ours(self, plan: JobPlan) -> bool:
        """Whether it is this very submission's, still being written."""
        found = self._table.get(job_key(plan.job.ref)) or {}
        return (found.get("state"), found.get("created_at_ms")) == (
            JobState.WRITING,
            plan.job.created_at_ms,
        )

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        job, start = plan.job.ref, plan.job.ref.task(START)
        opened = self._table.transact(
            (
                job_key(job),
                Update(
                    set={"state": JobState.OPEN}
                    | listing_attributes(plan.job)
                    | due_attributes(job.job_id, now_ms + due.JOB_AUDIT),
                    condition="#state = :writing",
                    values={"writing": JobState.WRITING},
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
        if not opened:
            raise Conflict(f"{job.job_id} was opened already")

    def _items(self, plan: JobPlan) -> Iterator[Item]:
        job = plan.job.ref
        yield from (task_item(task) for task in plan.tasks)
        for task_id, dependents in plan.dependents.items():
            yield {**key_item(dependents_key(job.task(task_id))), "tasks": list(dependents)}
        for task_id, payload in plan.payloads.items():
            yield self._payloads.new_item(job.task(task_id), payload)
