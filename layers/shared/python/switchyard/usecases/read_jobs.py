"""What producers may know of their jobs and tasks."""

import json
from collections import Counter
from typing import Final

from switchyard.contracts.jobs import (
    JobPage,
    JobSummary,
    JobView,
    TaskSummary,
    TaskView,
    instant,
)
from switchyard.domain.artifacts import RESULT_FILE
from switchyard.domain.errors import UnknownJob, UnknownTask
from switchyard.domain.ids import JOB_ID, TASK_ID, JobRef
from switchyard.domain.job import Job
from switchyard.domain.states import job_status, task_status
from switchyard.domain.task import Json, Outcome, Payload, Task
from switchyard.ports import JobStore, Payloads, TaskGraph

MAX_ANSWER_BYTES: Final = 5_500_000  # a function answers with 6 MB; the rest is for what is around


def read_job(tenant: str, job_id: str, *, jobs: JobStore) -> JobView:
    picture = jobs.picture(_job_ref(tenant, job_id))
    tasks = [
        _task_summary(task, picture.depends_on.get(task.ref.task_id, ()))
        for task in picture.visible_tasks
    ]
    return JobView(
        **_job_summary(picture.job).model_dump(),
        run=picture.job.run,
        failed_task_id=picture.job.failed_task_id,
        tags=dict(picture.job.tags),
        progress=dict(Counter(task.status for task in tasks)),
        tasks=tuple(tasks),
    )


def list_jobs(tenant: str, *, limit: int, cursor: str | None, jobs: JobStore) -> JobPage:
    page = jobs.page(tenant, limit=limit, cursor=cursor)
    return JobPage(jobs=tuple(map(_job_summary, page.jobs)), cursor=page.cursor)


def read_task(
    tenant: str, job_id: str, task_id: str, *, graph: TaskGraph, payloads: Payloads, bucket: str
) -> TaskView:
    ref = _job_ref(tenant, job_id).task(task_id)
    task = graph.find(ref) if TASK_ID.fullmatch(task_id) and not ref.hidden else None
    if task is None:
        raise UnknownTask(f"{task_id} in {job_id}")
    payload = payloads.read(ref)
    outcome = task.outcome or Outcome(state=task.state)
    return TaskView(
        **_task_summary(task, payload.depends_on).model_dump(),
        job_id=job_id,
        request_id=ref.request_id,
        definition_version=task.definition_version,
        max_attempts=task.max_attempts,
        duration_ms=outcome.duration_ms if task.outcome else None,
        input_tokens=outcome.usage.input_tokens,
        output_tokens=outcome.usage.output_tokens,
        cache_read_tokens=outcome.usage.cache_read_tokens,
        **_what_fits(payload, outcome, bucket),
        artifacts=f"s3://{bucket}/{outcome.artifacts}" if outcome.artifacts else None,
    )


def _what_fits(payload: Payload, outcome: Outcome, bucket: str) -> dict[str, Json]:
    """Input and output, or where they are; the output first: a producer has the input."""
    room = MAX_ANSWER_BYTES
    shown: dict[str, Json] = {}
    for name, value, key in (
        ("output", payload.output, f"{outcome.artifacts}{RESULT_FILE}"),
        ("input", payload.input, payload.input_key),
    ):
        size = _bytes_in_answer(value)
        if size <= room:
            shown[name] = value
            room -= size
        else:
            shown[f"{name}_location"] = f"s3://{bucket}/{key}"
    return shown


def _bytes_in_answer(value: Json) -> int:
    """The body of an answer is a text within the function's own JSON."""
    return len(json.dumps(json.dumps(value)))


def _job_ref(tenant: str, job_id: str) -> JobRef:
    if not JOB_ID.fullmatch(job_id):
        raise UnknownJob(job_id)
    return JobRef(tenant, job_id)


def _job_summary(job: Job) -> JobSummary:
    return JobSummary(
        job_id=job.ref.job_id,
        name=job.name,
        status=job_status(job.state, failure_detected=job.failure_detected_at_ms is not None),
        total_tasks=job.total_tasks,
        created_at=instant(job.created_at_ms),
        completed_at=instant(job.settled_at_ms),
    )


def _task_summary(task: Task, depends_on: tuple[str, ...]) -> TaskSummary:
    outcome = task.outcome
    return TaskSummary(
        task_id=task.ref.task_id,
        name=task.definition,
        depends_on=depends_on,
        status=task_status(task.state, attempt=task.attempt),
        run=task.run,
        attempt=task.attempt,
        started_at=instant(task.started_at_ms),
        settled_at=instant(task.settled_at_ms),
        cost_usd=outcome.usage.cost_usd if outcome else 0.0,
        error=(outcome.error if outcome else None) or task.last_error,
    )
