"""Cancellation, in memory."""

from collections.abc import Sequence
from dataclasses import replace

from switchyard.adapters.memory.leases import MemoryTaskLeases
from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.domain.tasks import due, proofs
from switchyard.domain.tasks.cancelling import Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.task import Task


class MemoryCancelling:
    def __init__(self, state: MemoryState) -> None:
        self._state = state
        self._leases = MemoryTaskLeases(state)

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.state is JobState.CANCELLING:
                return stored
            as_read = stored.state is JobState.OPEN and stored.run == job.run
            if not as_read or stored.redrive_key is not None:
                return None
            self._state.jobs[job.ref] = replace(
                stored,
                state=JobState.CANCELLING,
                cancel_requested=True,
                cancelled_by=by or stored.cancelled_by,
                cancel_cursor=None,
                due_at_ms=now_ms + due.JOB_BEING_CHANGED,
            )
            return self._state.jobs[job.ref]

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        match decide_cancel(task):
            case Settle(outcome):
                return self._leases.give_up(task, outcome, now_ms=now_ms)
            case Flag():
                return self._flag(task)
            case Leave():
                return task

    def page(self, ref: JobRef, *, after: str | None, at_most: int) -> Sequence[Task]:
        with self._state.lock:
            tasks = {t.task_id: task for t, task in self._state.tasks.items() if t.job == ref}
        names = sorted(name for name in tasks if after is None or name > after)
        return [tasks[name] for name in names[:at_most]]

    def cancel_many(self, tasks: Sequence[Task], *, now_ms: int) -> Sequence[Task | None]:
        return [self.cancel(task, now_ms=now_ms) for task in tasks]

    def note_progress(self, job: Job, cursor: str) -> None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.state is JobState.CANCELLING and stored.run == job.run:
                self._state.jobs[job.ref] = replace(stored, cancel_cursor=cursor)

    def end(self, job: Job, *, now_ms: int, cursor: str) -> None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.state is JobState.CANCELLING and stored.run == job.run:
                self._state.jobs[job.ref] = replace(
                    stored,
                    state=JobState.OPEN,
                    cancel_cursor=cursor,
                    due_at_ms=now_ms + due.JOB_AUDIT,
                )

    def note_reported(self, job: Job, cursor: str | None) -> None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.state is not JobState.CANCELLING and stored.run == job.run:
                self._state.jobs[job.ref] = replace(stored, cancel_cursor=cursor)

    def _flag(self, task: Task) -> Task | None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if not proofs.unchanged(stored, task):
                return None
            self._state.tasks[task.ref] = replace(stored, cancel_requested=True)
            return self._state.tasks[task.ref]
