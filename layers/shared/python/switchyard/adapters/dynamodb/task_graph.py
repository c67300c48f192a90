"""Edges and the steps before a task runs, on the control items."""

from collections.abc import Mapping, Sequence
from typing import Final

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    JOB_SORT_KEY,
    dependents_key,
    job_from,
    job_key,
    json_text,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads, write_of_output
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter, write_of
from switchyard.domain.errors import UnknownTask
from switchyard.domain.fan_out.plan import Expansion, opening_of, start_of
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import (
    edge_transitions,
    fan_out_transitions,
    held_transitions,
    transitions,
)
from switchyard.domain.tasks.holds import Resolution
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Payload, Task
from switchyard.domain.text import in_slices
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import TasksOfJob

TOKENS_PER_UPDATE: Final = 100  # each is an operand, and an expression has at most 4 KB


class DynamoDbTaskGraph:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)

    def find(self, ref: TaskRef) -> Task | None:
        item = self._table.get(task_key(ref))
        return task_from(item, ref.job) if item else None

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        items = self._table.get_many([task_key(ref) for ref in refs])
        tasks = [task_from(item, refs[0].job) for item in items]
        return {task.ref.task_id: task for task in tasks}

    def find_in_job(self, refs: Sequence[TaskRef]) -> TasksOfJob:
        """Read the job's cancellation in the call that reads the tasks anyway."""
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
        """Remove tokens; if refused, try fewer each time: a token that is gone does not return."""
        answer = self._writer.write_task(ref, edge_transitions.remove_edges(tokens))
        task = _as_it_is(ref, answer)
        left = {token: done for token, done in tokens.items() if token in task.waiting_on}
        if isinstance(answer, TransitionRefused) and left:
            return self._remove(ref, left)
        return task

    def decide(self, task: Task, verdict: Readiness, *, now_ms: int) -> Task:
        decision = transitions.decide(task, verdict, now_ms=now_ms)
        return _as_it_is(task.ref, self._writer.write_task(task.ref, decision))

    def hold(self, task: Task, *, held_until_ms: int) -> None:
        self._writer.write_task(task.ref, held_transitions.hold(task, held_until_ms=held_until_ms))

    def resolve(
        self, task: Task, resolution: Resolution, *, now_ms: int, decision: str | None = None
    ) -> Task | None:
        outcome = resolution.outcome
        ending = held_transitions.resolve(task, outcome, now_ms=now_ms, decision=decision)
        if outcome.state is not TaskState.COMPLETED:
            answer = self._writer.write_task_surely(task.ref, ending)
        else:
            output = write_of_output(task.ref, {"output": json_text(resolution.output)})
            answer = self._writer.write_task_with(task, ending, output)
        return answer if isinstance(answer, Task) else None

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        self._writer.write_task(task.ref, transitions.mark_queued(task, now_ms=now_ms))

    def clear_due(self, task: Task) -> None:
        self._writer.write_task(task.ref, transitions.clear_due(task))

    def clear_due_of_many(self, tasks: Sequence[Task]) -> None:
        self._table.update_many([write_of(task.ref, transitions.clear_due(task)) for task in tasks])


class DynamoDbFanOuts:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._writer = TransitionWriter(table)
        self._payloads = payloads

    def note_expanded(self, task: Task, expanded: int, *, now_ms: int) -> Task:
        noted = fan_out_transitions.note_expanded(task, expanded, now_ms=now_ms)
        return _as_it_is(task.ref, self._writer.write_task(task.ref, noted))

    def delay(self, task: Task, reason: str, *, due_at_ms: int) -> None:
        delayed = fan_out_transitions.delay_expansion(task, reason, due_at_ms=due_at_ms)
        self._writer.write_task(task.ref, delayed)

    def open(self, task: Task, expansion: Expansion, *, now_ms: int) -> bool:
        opening, started, grown = opening_of(task, expansion, now_ms=now_ms)
        others = (
            write_of(start_of(task), started),
            write_of(task.ref.job, grown),
        )
        return isinstance(self._writer.write_task_with(task, opening, *others), Task)

    def replace(self, item: Task, payload: Payload, dependents: tuple[str, ...]) -> None:
        replacement = fan_out_transitions.replace_item(item)
        edges = {"tasks": list(dependents)}
        self._table.transact(
            write_of(item.ref, replacement),
            (dependents_key(item.ref), Update(set=edges, condition="attribute_exists(#PK)")),
            self._payloads.write_of_new(item.ref, payload),
        )

    def drop(self, ref: TaskRef, *, items_run: int, now_ms: int) -> Task | None:
        drop = fan_out_transitions.drop_item(items_run=items_run, now_ms=now_ms)
        answer = self._writer.write_task(ref, drop)
        return answer if isinstance(answer, Task) else None

    def gather(
        self, task: Task, outcome: Outcome, *, output_key: str | None, now_ms: int
    ) -> Task | None:
        ending = fan_out_transitions.gather(task, outcome, now_ms=now_ms)
        if output_key is None:
            answer = self._writer.write_task_surely(task.ref, ending)
        else:
            output = write_of_output(task.ref, {"output_key": output_key})
            answer = self._writer.write_task_with(task, ending, output)
        return answer if isinstance(answer, Task) else None


def _as_it_is(ref: TaskRef, answer: Task | TransitionRefused[Task]) -> Task:
    task = answer.found if isinstance(answer, TransitionRefused) else answer
    if task is None:
        raise UnknownTask(ref.request_id)
    return task
