"""Edges and the steps before a task runs, in memory."""

import json
from collections.abc import Mapping, Sequence

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
from switchyard.domain.transition import TransitionRefused, holds
from switchyard.ports import BlobStore, TasksOfJob
from switchyard.testing.state import MemoryState


class MemoryTaskGraph:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def find(self, ref: TaskRef) -> Task | None:
        return self._state.tasks.get(ref)

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        with self._state.lock:
            found = [self._state.tasks[ref] for ref in refs if ref in self._state.tasks]
        return {task.ref.task_id: task for task in found}

    def find_in_job(self, refs: Sequence[TaskRef]) -> TasksOfJob:
        with self._state.lock:
            job = self._state.jobs.get(refs[0].job)
            return TasksOfJob(self.find_many(refs), job is not None and job.being_cancelled)

    def edges_from(self, refs: Sequence[TaskRef]) -> Mapping[str, tuple[str, ...]]:
        with self._state.lock:
            known = [ref for ref in refs if ref in self._state.dependents]
            return {ref.task_id: self._state.dependents[ref] for ref in known}

    def remove_edges(self, ref: TaskRef, tokens: Mapping[str, bool]) -> Task:
        with self._state.lock:
            waiting_on = _as_it_is(ref, self._state.tasks.get(ref)).waiting_on
            left = {token: done for token, done in tokens.items() if token in waiting_on}
            return _as_it_is(ref, self._state.write_task(ref, edge_transitions.remove_edges(left)))

    def decide(self, task: Task, verdict: Readiness, *, now_ms: int) -> Task:
        decision = transitions.decide(task, verdict, now_ms=now_ms)
        return _as_it_is(task.ref, self._state.write_task(task.ref, decision))

    def hold(self, task: Task, *, held_until_ms: int) -> None:
        self._state.write_task(task.ref, held_transitions.hold(task, held_until_ms=held_until_ms))

    def resolve(
        self, task: Task, resolution: Resolution, *, now_ms: int, decision: str | None = None
    ) -> Task | None:
        ending = held_transitions.resolve(
            task, resolution.outcome, now_ms=now_ms, decision=decision
        )
        with self._state.lock:
            before = self._state.tasks.get(task.ref)
            answer = self._state.write_task(task.ref, ending)
            if not isinstance(answer, Task):
                return None
            if answer is not before and answer.state is TaskState.COMPLETED:
                self._state.store_output(task.ref, resolution.output)
            return answer

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        self._state.write_task(task.ref, transitions.mark_queued(task, now_ms=now_ms))

    def clear_due(self, task: Task) -> None:
        self._state.write_task(task.ref, transitions.clear_due(task))

    def clear_due_of_many(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self.clear_due(task)


class MemoryFanOuts:
    def __init__(self, state: MemoryState, blobs: BlobStore) -> None:
        self._state = state
        self._blobs = blobs

    def note_expanded(self, task: Task, expanded: int, *, now_ms: int) -> Task:
        noted = fan_out_transitions.note_expanded(task, expanded, now_ms=now_ms)
        return _as_it_is(task.ref, self._state.write_task(task.ref, noted))

    def delay(self, task: Task, reason: str, *, due_at_ms: int) -> None:
        delayed = fan_out_transitions.delay_expansion(task, reason, due_at_ms=due_at_ms)
        self._state.write_task(task.ref, delayed)

    def open(self, task: Task, expansion: Expansion, *, now_ms: int) -> bool:
        opening, started, grown = opening_of(task, expansion, now_ms=now_ms)
        start = start_of(task)
        with self._state.lock:
            now = self._state.tasks.get(task.ref)
            may = (
                holds(opening.guard, now)
                and holds(started.guard, self._state.tasks.get(start))
                and holds(grown.guard, self._state.jobs.get(start.job))
            )
            if not may:
                return now is not None and opening.was_written_to(now)
            self._state.write_task(task.ref, opening)
            self._state.write_task(start, started)
            self._state.write_job(start.job, grown)
            return True

    def replace(self, item: Task, payload: Payload, dependents: tuple[str, ...]) -> None:
        with self._state.lock:
            before = self._state.tasks.get(item.ref)
            answer = self._state.write_task(item.ref, fan_out_transitions.replace_item(item))
            if isinstance(answer, Task) and answer is not before:
                self._state.payloads[item.ref] = payload
                self._state.dependents[item.ref] = dependents

    def drop(self, ref: TaskRef, *, items_run: int, now_ms: int) -> Task | None:
        drop = fan_out_transitions.drop_item(items_run=items_run, now_ms=now_ms)
        answer = self._state.write_task(ref, drop)
        return answer if isinstance(answer, Task) else None

    def gather(
        self, task: Task, outcome: Outcome, *, output_key: str | None, now_ms: int
    ) -> Task | None:
        with self._state.lock:
            ending = fan_out_transitions.gather(task, outcome, now_ms=now_ms)
            answer = self._state.write_task(task.ref, ending)
            if isinstance(answer, Task) and output_key is not None:
                self._state.store_output(task.ref, json.loads(self._blobs.get(output_key)))
            return answer if isinstance(answer, Task) else None


def _as_it_is(ref: TaskRef, answer: Task | TransitionRefused[Task] | None) -> Task:
    task = answer.found if isinstance(answer, TransitionRefused) else answer
    if task is None:
        raise UnknownTask(ref.request_id)
    return task
