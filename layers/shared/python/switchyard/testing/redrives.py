"""The steps of a redrive, in memory."""

from collections.abc import Mapping
from dataclasses import replace

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redrive import RedrivePlan, Reopening, relay_task
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Payload, Task
from switchyard.testing.state import MemoryState


class MemoryRedriving:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        with self._state.lock:
            every = self._state.dependents.items()
            return {parent.task_id: names for parent, names in every if parent.job == ref}

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        begin = of_jobs.begin_redrive(job, key=key, now_ms=now_ms)
        return isinstance(self._state.write_job(job.ref, begin), Job)

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
            before = self._state.tasks[task]
            answer = self._state.write_task(task, of_tasks.reopen(reopening, now_ms=now_ms))
            if not isinstance(answer, Task):
                return None
            if answer is not before:
                self._write_data(task, reopening, given)
            return answer

    def _write_data(self, ref: TaskRef, reopening: Reopening, given: Payload | None) -> None:
        if reopening.made_output:
            self._state.store_output(ref, None)
        if given is not None:
            stored = self._state.payloads[ref]
            self._state.payloads[ref] = replace(stored, input=given.input)

    def note(self, job: Job, *, written: int) -> None:
        self._state.write_job(job.ref, of_jobs.note_redrive_progress(job, written=written))

    def open(self, job: Job, *, now_ms: int, fewer_tasks: int = 0) -> Job | None:
        reopen = of_jobs.reopen(job, now_ms=now_ms, fewer_tasks=fewer_tasks)
        answer = self._state.write_job(job.ref, reopen)
        return answer if isinstance(answer, Job) else None

    def end(self, job: Job, *, now_ms: int) -> bool:
        end = of_jobs.end_redrive(job, now_ms=now_ms)
        return isinstance(self._state.write_job(job.ref, end), Job)
