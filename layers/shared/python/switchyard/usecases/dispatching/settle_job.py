"""Settles a job, and emits its first failure while it still runs."""

from collections.abc import Sequence
from typing import Final

from switchyard.contracts.events import (
    JobCancelled,
    JobCompleted,
    JobFailed,
    JobFailureDetected,
    JobSettled,
)
from switchyard.domain.jobs.job import Job, JobStates, decide_job_outcome
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.states import JobState, task_status
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, DispatchQueue, JobStore, OpenTasks
from switchyard.usecases.events.emitting import Emitter, Fact

_REPORTED_AS: Final[dict[JobState, type[JobSettled]]] = {
    JobState.COMPLETED: JobCompleted,
    JobState.FAILED: JobFailed,
    JobState.CANCELLED: JobCancelled,
}


class JobSettler:
    def __init__(
        self,
        *,
        jobs: JobStore,
        open_tasks: OpenTasks,
        dispatches: DispatchQueue,
        emitter: Emitter,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._open_tasks = open_tasks
        self._dispatches = dispatches
        self._emitter = emitter
        self._clock = clock

    def settle(self, end: Task) -> bool:
        """Settle the job: `__end__` was decided, so every task has settled and shows how it ended.

        `False` while the job is being cancelled or redriven: it has to be asked again then. And
        when it was redriven since `end` was read: not every task has settled then.
        """
        found = self._jobs.states(end.ref.job)
        if not _includes(found, end):
            return False
        outcome = decide_job_outcome({task.state for task in found.declared_tasks})
        job = self._jobs.settle(found.job, outcome, now_ms=self._clock.now_ms())
        if not job.state.settled:
            return False
        self._emitter.emit(_settled(job, found))
        if job.redrive_key:  # it ended before its redrive was cleared, and is due no more
            self._dispatches.send([job.ref])
        self._open_tasks.close(job.ref, run=job.run)
        return True

    def emit_first_failure(self, settled: Sequence[Task]) -> None:
        """Note one of the failures, unless the job has one already, and emit the noted one."""
        failed = {t.ref.task_id: t for t in settled if t.state.failure and not t.tolerated}
        if not failed:
            return
        first = min(failed.values(), key=lambda task: (task.settled_at_ms or 0, task.ref))
        job = self._jobs.find(first.ref.job)
        if job is None:  # of a bare task
            return
        if job.failure_detected_at_ms is None:
            now_ms = self._clock.now_ms()
            job = self._jobs.note_failure(job, task_id=first.ref.task_id, now_ms=now_ms)
        noted = failed.get(job.failed_task_id or "")
        if noted is not None:
            self._emitter.emit(_failure(job, noted))


def _includes(found: JobStates, end: Task) -> bool:
    read = (end.ref, end.run, end.state)
    return any((task.ref, task.run, task.state) == read for task in found.tasks)


def _failure(job: Job, failed: Task) -> Fact:
    emitted = JobFailureDetected(
        job_id=job.ref.job_id,
        run=job.run,
        failed_task_id=failed.ref.task_id,
        task_statuses={
            failed.ref.task_id: task_status(failed.state, attempt=failed.attempt),
        },  # the others may change: emitted again, the event would differ
    )
    return Fact(job.ref.tenant, emitted, job.failure_detected_at_ms or 0, trace_of(job))


def _settled(job: Job, found: JobStates) -> Fact:
    emitted = _REPORTED_AS[job.state](
        job_id=job.ref.job_id,
        run=job.run,
        started_at=job.reopened_at_ms or job.created_at_ms,
        total_tasks=job.total_tasks,
        task_statuses=_statuses(found),
        **_who(job),
    )
    return Fact(job.ref.tenant, emitted, job.settled_at_ms or 0, trace_of(job))


def _who(job: Job) -> dict[str, str | None]:
    return {"requested_by": job.cancelled_by} if job.state is JobState.CANCELLED else {}


def _statuses(found: JobStates) -> dict[str, str]:
    return {
        task.ref.task_id: task_status(task.state, attempt=task.attempt)
        for task in found.declared_tasks
    }
