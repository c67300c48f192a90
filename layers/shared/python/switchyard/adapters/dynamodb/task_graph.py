"""Edges and the steps before a task runs, on the control items."""

from collections.abc import Mapping, Sequence
from typing import Final

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    JOB_SORT_KEY,
    dependents_key,
    due_attributes,
    job_from,
    job_key,
    outcome_attribute,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import DUE_AT, DUE_SHARD
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.slices import in_slices
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Verdict
from switchyard.domain.tasks.task import Task, parent_of
from switchyard.ports import TasksOfJob

TOKENS_PER_UPDATE: Final = 100  # each is an operand, and an expression has at most 4 KB


class DynamoDbTaskGraph:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def find(self, ref: TaskRef) -> Task | None:
        item = self._table.get(task_key(ref))
        return task_from(item, ref.job) if item else None

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        items = self._table.get_many([task_key(ref) for ref in refs])
        tasks = [task_from(item, refs[0].job) for item in items]
        return {task.ref.task_id: task for task in tasks}

    def find_in_job(self, refs: Sequence[TaskRef]) -> TasksOfJob:
        """In the call that reads the tasks anyway."""
        job = refs[0].job
        items = self._table.get_many([job_key(job), *(task_key(ref) for ref in refs)])
        jobs = [job_from(item, job.tenant) for item in items if item["SK"] == JOB_SORT_KEY]
        tasks = [task_from(item, job) for item in items if item["SK"] != JOB_SORT_KEY]
        return TasksOfJob(
            {task.ref.task_id: task for task in tasks}, any(found.being_cancelled for found in jobs)
        )

    def edges_from(self, refs: Sequence[TaskRef]) -> Mapping[str, tuple[str, ...]]:
        items = self._table.get_many([dependents_key(ref) for ref in refs])
        return {item["SK"].removeprefix(DEPENDENTS_PREFIX): tuple(item["tasks"]) for item in items}

    def remove_edges(self, ref: TaskRef, tokens: Mapping[str, bool]) -> Task:
        first, *rest = in_slices(list(tokens.items()), TOKENS_PER_UPDATE)
        task = self._remove(ref, dict(first))
        for some in rest:
            task = self._remove(ref, dict(some))
        return task

    def _remove(self, ref: TaskRef, tokens: Mapping[str, bool]) -> Task:
        """Refused, it is asked again for fewer each time: a token that is gone does not return."""
        answer = self._table.update(task_key(ref), _without(tokens))
        task = _as_it_is(ref, answer)
        left = {token: done for token, done in tokens.items() if token in task.waiting_on}
        if isinstance(answer, Refusal) and left:
            return self._remove(ref, left)
        return task

    def decide(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task:
        flag = "attribute_exists" if task.cancel_requested else "attribute_not_exists"
        answer = self._table.update(
            task_key(task.ref),
            Update(
                set={"state": verdict.state, **_times(task, verdict, now_ms)},
                add={"fence": 1},
                condition="#state = :waiting AND attribute_not_exists(#waiting_on) AND #run = :run"
                f" AND {flag}(#cancel_requested)",
                values={"waiting": TaskState.WAITING, "run": task.run},
            ),
        )
        return _as_it_is(task.ref, answer)

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
        self._table.update(task_key(task.ref), _without_due(task))

    def clear_due_of_many(self, tasks: Sequence[Task]) -> None:
        self._table.update_many([(task_key(task.ref), _without_due(task)) for task in tasks])


def _without_due(task: Task) -> Update:
    return Update(
        remove=(DUE_SHARD, DUE_AT),
        condition="#state = :state AND #fence = :fence AND #run = :run",
        values={"state": task.state, "fence": task.fence, "run": task.run},
    )


def _without(tokens: Mapping[str, bool]) -> Update:
    lost = {parent_of(token) for token, completed in tokens.items() if not completed}
    values = {f"t{number}": token for number, token in enumerate(tokens)}
    return Update(
        delete={"waiting_on": set(tokens)},
        add={"not_completed": lost} if lost else {},
        condition=" AND ".join(f"contains(#waiting_on, :{name})" for name in values),
        values=values,
    )


def _as_it_is(ref: TaskRef, answer: Item | Refusal) -> Task:
    item = answer.item if isinstance(answer, Refusal) else answer
    if item is None:
        raise UnknownTask(ref.request_id)
    return task_from(item, ref.job)


def _times(task: Task, verdict: Verdict, now_ms: int) -> Item:
    if verdict.state is TaskState.READY:
        return {
            "ready_at_ms": now_ms,
            **due_attributes(task.ref.request_id, now_ms + due.AFTER_READY),
        }
    return {
        "settled_at_ms": now_ms,
        "outcome": outcome_attribute(verdict.outcome),
        **due_attributes(task.ref.request_id, now_ms + due.AFTER_SETTLING),
    }
