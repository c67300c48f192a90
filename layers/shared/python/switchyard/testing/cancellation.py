"""Cancellation, in memory."""

from collections.abc import Sequence

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import TransitionRefused
from switchyard.testing.state import MemoryState


class MemoryCancelling:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        begin = of_jobs.begin_cancel(job, now_ms=now_ms, by=by)
        answer = self._state.write_job(job.ref, begin)
        return answer if isinstance(answer, Job) else None

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        cancel = of_tasks.cancel(task, now_ms=now_ms)
        if isinstance(cancel, TransitionRefused):
            return task
        answer = self._state.write_task(task.ref, cancel)
        return answer if isinstance(answer, Task) else None

    def page(self, ref: JobRef, *, after: str | None, at_most: int) -> Sequence[Task]:
        with self._state.lock:
            tasks = {t.task_id: task for t, task in self._state.tasks.items() if t.job == ref}
        names = sorted(name for name in tasks if after is None or name > after)
        return [tasks[name] for name in names[:at_most]]

    def cancel_many(self, tasks: Sequence[Task], *, now_ms: int) -> Sequence[Task | None]:
        return [self.cancel(task, now_ms=now_ms) for task in tasks]

    def note_progress(self, job: Job, cursor: str) -> None:
        self._state.write_job(job.ref, of_jobs.note_cancel_progress(job, cursor))

    def end(self, job: Job, *, now_ms: int, cursor: str) -> None:
        self._state.write_job(job.ref, of_jobs.end_cancel(job, now_ms=now_ms, cursor=cursor))

    def note_reported(self, job: Job, cursor: str | None) -> None:
        self._state.write_job(job.ref, of_jobs.note_events_emitted(job, cursor))
