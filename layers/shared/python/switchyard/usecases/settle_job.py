"""Ends a job, and tells of its first failure while it still goes on."""

from typing import Final

from switchyard.contracts.events import (
    JobCancelled,
    JobCompleted,
    JobFailed,
    JobFailureDetected,
    JobSettled,
)
from switchyard.domain.ids import JobRef
from switchyard.domain.job import Job, JobPicture
from switchyard.domain.job_outcome import decide_job_outcome
from switchyard.domain.states import JobState, task_status
from switchyard.domain.task import Task
from switchyard.ports import Clock, JobStore
from switchyard.usecases.emitting import Emitter, Fact

_TOLD_AS: Final[dict[JobState, type[JobSettled]]] = {
    JobState.COMPLETED: JobCompleted,
    JobState.FAILED: JobFailed,
    JobState.CANCELLED: JobCancelled,
}


def settle_job(ref: JobRef, *, jobs: JobStore, emitter: Emitter, clock: Clock) -> None:
    """`__end__` was decided: every task has settled, so the tasks say how the job ended."""
    picture = jobs.picture(ref)
    outcome = decide_job_outcome(picture.visible_tasks)
    job = jobs.settle(picture.job, outcome, now_ms=clock.now_ms())
    if job.state.settled:
        emitter.emit(_settled(job, picture))


def tell_first_failure(task: Task, *, jobs: JobStore, emitter: Emitter, clock: Clock) -> None:
    if not task.state.failure:
        return
    job = jobs.find(task.ref.job)
    if job is None:
        return
    job = jobs.note_failure(job, task_id=task.ref.task_id, now_ms=clock.now_ms())
    if job.failed_task_id == task.ref.task_id and job.failure_detected_at_ms is not None:
        told = JobFailureDetected(
            job_id=job.ref.job_id,
            run=job.run,
            failed_task_id=job.failed_task_id,
            task_statuses={
                task.ref.task_id: task_status(task.state, attempt=task.attempt),
            },  # the others' are not what they were: told again, it would tell something else
        )
        emitter.emit(Fact(job.ref.tenant, told, job.failure_detected_at_ms))


def _settled(job: Job, picture: JobPicture) -> Fact:
    told = _TOLD_AS[job.state](
        job_id=job.ref.job_id,
        run=job.run,
        total_tasks=job.total_tasks,
        task_statuses=_statuses(picture),
    )
    return Fact(job.ref.tenant, told, job.settled_at_ms or 0)


def _statuses(picture: JobPicture) -> dict[str, str]:
    return {
        task.ref.task_id: task_status(task.state, attempt=task.attempt)
        for task in picture.visible_tasks
    }
