"""The steps of a redrive, in memory."""

from collections.abc import Mapping
from dataclasses import replace

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redriving import (
    RedrivePlan,
    Reopening,
    is_as_planned,
    relay_task,
    reopened,
)
from switchyard.domain.states import JobState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Payload, Task


class MemoryRedriving:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        with self._state.lock:
            every = self._state.dependents.items()
            return {parent.task_id: names for parent, names in every if parent.job == ref}

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            as_read = (stored.state, stored.run) == (job.state, job.run)
            if not as_read or stored.redrive_key is not None:
                return stored.redrive_key == key
            self._state.jobs[job.ref] = replace(
                stored,
                state=JobState.REDRIVING,
                redrive_key=key,
                written=0,
                due_at_ms=now_ms + due.JOB_BEING_CHANGED,
            )
            return True

    def prepare(self, ref: JobRef, plan: RedrivePlan, name: str) -> None:
        task, edges = ref.task(name), plan.edges[name]
        with self._state.lock:
            if name in plan.relays:
                self._state.tasks.setdefault(task, relay_task(ref, plan, name))
            if self._state.dependents.get(task, ()) == edges.before:
                self._state.dependents[task] = edges.after

    def reopen(
        self, ref: JobRef, reopening: Reopening, *, given: Payload | None = None, now_ms: int
    ) -> Task | None:
        task = ref.task(reopening.task_id)
        with self._state.lock:
            stored = self._state.tasks[task]
            if is_as_planned(stored, reopening):
                stored = self._state.tasks[task] = reopened(stored, reopening, now_ms=now_ms)
                if given is not None:
                    kept = self._state.payloads[task]
                    self._state.payloads[task] = replace(kept, input=given.input)
            return stored if stored.run == reopening.run + 1 else None

    def note(self, job: Job, *, written: int) -> None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.redrive_key == job.redrive_key:
                later = max(written, stored.written)
                self._state.jobs[job.ref] = replace(stored, written=later)

    def open(self, job: Job, *, now_ms: int) -> Job | None:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.redrive_key != job.redrive_key:
                return None
            if stored.state is JobState.REDRIVING:
                stored = self._state.jobs[job.ref] = replace(
                    stored,
                    state=JobState.OPEN,
                    run=stored.run + 1,
                    reopened_at_ms=now_ms,
                    settled_at_ms=None,
                    failure_detected_at_ms=None,
                    failed_task_id=None,
                    cancel_requested=False,
                    cancelled_by=None,
                    due_at_ms=now_ms + due.JOB_BEING_CHANGED,
                )
            return stored

    def end(self, job: Job, *, now_ms: int) -> bool:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if (stored.redrive_key, stored.state) != (job.redrive_key, job.state):
                return False
            audit = None if stored.state.settled else now_ms + due.JOB_AUDIT
            self._state.jobs[job.ref] = replace(stored, redrive_key=None, due_at_ms=audit)
            return True
