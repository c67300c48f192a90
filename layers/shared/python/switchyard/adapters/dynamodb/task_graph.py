"""Edges and the steps before a task runs, on the control items."""

from collections.abc import Mapping, Sequence

from switchyard.adapters.dynamodb.items import (
    dependents_key,
    due_attributes,
    outcome_attribute,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import DUE_AT, DUE_SHARD
from switchyard.domain import due
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.readiness import Verdict
from switchyard.domain.states import TaskState
from switchyard.domain.task import Outcome, Task, parent_of


class DynamoDbTaskGraph:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def find(self, ref: TaskRef) -> Task | None:
        item = self._table.get(task_key(ref))
        return task_from(item, ref.job) if item else None

    def dependents(self, ref: TaskRef) -> tuple[str, ...]:
        item = self._table.get(dependents_key(ref))
        return tuple(item["tasks"]) if item else ()

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        items = self._table.get_many([task_key(ref) for ref in refs])
        tasks = [task_from(item, refs[0].job) for item in items]
        return {task.ref.task_id: task for task in tasks}

    def remove_edge(self, ref: TaskRef, token: str, *, completed: bool) -> Task:
        answer = self._table.update(
            task_key(ref),
            Update(
                delete={"waiting_on": {token}},
                add={} if completed else {"not_completed": {parent_of(token)}},
                condition="contains(#waiting_on, :token)",
                values={"token": token},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        if item is None:
            raise UnknownTask(ref.request_id)
        return task_from(item, ref.job)

    def decide(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task | None:
        answer = self._table.update(
            task_key(task.ref),
            Update(
                set={"state": verdict.state, **_times(task, verdict, now_ms)},
                add={"fence": 1},
                condition="#state = :waiting AND attribute_not_exists(#waiting_on) AND #run = :run",
                values={"waiting": TaskState.WAITING, "run": task.run},
            ),
        )
        return None if isinstance(answer, Refusal) else task_from(answer, task.ref.job)

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        self._table.update(
            task_key(task.ref),
            Update(
                set={"state": TaskState.QUEUED}
                | due_attributes(task.ref.request_id, now_ms + due.AFTER_QUEUED),
                add={"fence": 1},
                condition="#state = :ready AND #run = :run",
                values={"ready": TaskState.READY, "run": task.run},
            ),
        )

    def clear_due(self, task: Task) -> None:
        self._table.update(
            task_key(task.ref),
            Update(
                remove=(DUE_SHARD, DUE_AT),
                condition="#state = :state AND #fence = :fence AND #run = :run",
                values={"state": task.state, "fence": task.fence, "run": task.run},
            ),
        )


def _times(task: Task, verdict: Verdict, now_ms: int) -> Item:
    if verdict.state is TaskState.READY:
        return {
            "ready_at_ms": now_ms,
            **due_attributes(task.ref.request_id, now_ms + due.AFTER_READY),
        }
    return {
        "settled_at_ms": now_ms,
        "outcome": outcome_attribute(Outcome(state=verdict.state, error=verdict.reason)),
        **due_attributes(task.ref.request_id, now_ms + due.AFTER_SETTLING),
    }
