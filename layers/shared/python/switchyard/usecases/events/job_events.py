"""Makes events of a job's stored creation and additions; the same input gives the same event."""

from collections.abc import Iterable, Mapping, Sequence

from switchyard.contracts.events import CreatedTask, JobCreated, JobTasksAdded
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.chunks import AddedTasks
from switchyard.domain.jobs.job import Job
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.tasks.task import Payload, Task
from switchyard.usecases.events.emitting import Fact


def created(job: Job, tasks: Iterable[Task], payloads: Mapping[str, Payload]) -> Fact:
    emitted = JobCreated(
        job_id=job.ref.job_id,
        request_id=job.ref.job_id,
        run=job.run,
        total_tasks=job.total_tasks,
        tasks=tuple(_created(task, payloads[task.ref.task_id]) for task in tasks),
    )
    return Fact(job.ref.tenant, emitted, job.created_at_ms, trace_of(job))


def tasks_added(
    job: JobRef,
    added: AddedTasks,
    *,
    number: int,
    tasks: Sequence[Task],
    payloads: Mapping[str, Payload],
) -> Fact:
    """Return the event of a chunk, which has at least one task; `number` is the chunk's."""
    emitted = JobTasksAdded(
        job_id=job.job_id,
        run=added.job_run,
        chunk=number,
        new_tasks=tuple(_created(task, payloads[task.ref.task_id]) for task in tasks),
        previous_total_tasks=added.previous_total,
        total_tasks_now=added.total,
    )
    return Fact(job.tenant, emitted, added.at_ms, trace_of(tasks[0]))


def _created(task: Task, payload: Payload) -> CreatedTask:
    return CreatedTask(
        task_id=task.ref.task_id,
        name=task.definition,
        depends_on=payload.depends_on,
        input=payload.input,
        queue=task.queue,
        priority=task.priority,
        metadata=dict(payload.metadata) or None,
    )
