"""Edges and the steps before a task runs, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from switchyard.adapters.memory.settling import settled
from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Verdict
from switchyard.domain.tasks.task import Task, parent_of
from switchyard.ports import TasksOfJob


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
            task = self._find(ref)
            left = [token for token in tokens if token in task.waiting_on]
            lost = frozenset(parent_of(token) for token in left if not tokens[token])
            task = replace(
                task,
                waiting_on=task.waiting_on - frozenset(left),
                not_completed=task.not_completed | lost,
            )
            self._state.tasks[ref] = task
            return task

    def decide(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task:
        with self._state.lock:
            stored = self._find(task.ref)
            if not _may_be_decided(stored, as_read=task):
                return stored
            decided = replace(stored, state=verdict.state, fence=stored.fence + 1)
            if verdict.state is TaskState.READY:
                decided = replace(decided, ready_at_ms=now_ms, due_at_ms=now_ms + due.AFTER_READY)
            else:
                decided = settled(decided, verdict.outcome, now_ms)
            self._state.tasks[task.ref] = decided
            return decided

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if stored.state is TaskState.READY and stored.run == task.run:
                self._state.tasks[task.ref] = replace(
                    stored,
                    state=TaskState.QUEUED,
                    fence=stored.fence + 1,
                    due_at_ms=now_ms + due.AFTER_QUEUED,
                )

    def clear_due(self, task: Task) -> None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if (stored.state, stored.fence, stored.run) == (task.state, task.fence, task.run):
                self._state.tasks[task.ref] = replace(stored, due_at_ms=None)

    def clear_due_of_many(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self.clear_due(task)

    def _find(self, ref: TaskRef) -> Task:
        task = self._state.tasks.get(ref)
        if task is None:
            raise UnknownTask(ref.request_id)
        return task


def _may_be_decided(stored: Task, *, as_read: Task) -> bool:
    waits = stored.state is TaskState.WAITING and not stored.waiting_on
    seen = (as_read.run, as_read.cancel_requested)
    return waits and (stored.run, stored.cancel_requested) == seen
