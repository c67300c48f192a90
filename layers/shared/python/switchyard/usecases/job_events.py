"""Tells a job's stored beginning as an event. Whoever tells it again tells the same."""

from collections.abc import Iterable, Mapping

from switchyard.contracts.events import CreatedTask, JobCreated
from switchyard.domain.job import Job
from switchyard.domain.task import Payload, Task
from switchyard.usecases.emitting import Fact


def created(job: Job, tasks: Iterable[Task], payloads: Mapping[str, Payload]) -> Fact:
    told = JobCreated(
        job_id=job.ref.job_id,
        request_id=job.ref.job_id,
        run=job.run,
        total_tasks=job.total_tasks,
        tasks=tuple(_created(task, payloads[task.ref.task_id]) for task in tasks),
    )
    return Fact(job.ref.tenant, told, job.created_at_ms)


def _created(task: Task, payload: Payload) -> CreatedTask:
    return CreatedTask(
        task_id=task.ref.task_id,
        name=task.definition,
        depends_on=payload.depends_on,
        input=payload.input,
    )
