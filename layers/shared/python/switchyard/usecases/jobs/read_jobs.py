"""Reads jobs and tasks for their producers."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final
from urllib.parse import unquote

from pydantic.alias_generators import to_camel

from switchyard.contracts.jobs import (
    CommitmentView,
    FileLink,
    JobView,
    TaskSummary,
    TaskView,
)
from switchyard.contracts.notify import Notify
from switchyard.contracts.overview import JobSummary
from switchyard.contracts.problems import beginning
from switchyard.contracts.wire import instant
from switchyard.domain.errors import UnknownJob, UnknownTask
from switchyard.domain.ids import ANY_TASK_ID, JOB_ID, JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.scheduling.work_items import claim_of, item_status
from switchyard.domain.states import TaskState, task_status
from switchyard.domain.tasks.task import Json, Outcome, Payload, Task
from switchyard.ports import JobStore, Payloads, TaskGraph
from switchyard.usecases.jobs.last_event import last_event
from switchyard.usecases.jobs.task_files import TaskFiles

MAX_ERROR: Final = 300  # characters, of each task of a job
LEFT_OUT_FIRST: Final[Sequence[Mapping[str, Json]]] = ({"depends_on": ()}, {"error": None})
MAX_ANSWER_BYTES: Final = 5_500_000  # a function answers with 6 MB; the rest is for what is around


def read_job(
    tenant: str, job_id: str, *, jobs: JobStore, files: TaskFiles | None = None
) -> JobView:
    """Return the job; fields without room are left out of every task, and the answer says so."""
    picture = jobs.picture(job_ref(tenant, job_id))
    follows = picture.follows()
    tasks = [_cut(_task_summary(task, follows[task.ref.task_id])) for task in picture.visible_tasks]
    view = JobView(
        **job_summary(picture.job).model_dump(),
        run=picture.job.run,
        failed_task_id=picture.job.failed_task_id,
        cancel_requested=picture.job.cancel_requested,
        reopened_at=instant(picture.job.reopened_at_ms),
        notify=Notify.of(picture.job.notify) if picture.job.notify else None,
        files=files.of_job(picture.job) if files else (),
        trace_id=trace_of(picture.job).trace_id,
        progress=dict(Counter(task.status for task in tasks)),
        tasks=tuple(tasks),
    )
    for left_out in LEFT_OUT_FIRST:
        if _fits(view):
            return view
        view = _without(left_out, view)
    return view if _fits(view) else _without_items(view)


def _fits(view: JobView) -> bool:
    return bytes_in_answer(view.model_dump(mode="json", by_alias=True)) <= MAX_ANSWER_BYTES


def _without_items(view: JobView) -> JobView:
    """A fan-out stands for its items, of which a job has more than it may have declared."""
    tasks = tuple(task for task in view.tasks if "[" not in task.task_id)
    return view.model_copy(update={"tasks": tasks, "left_out": (*view.left_out, "items")})


def _cut(task: TaskSummary) -> TaskSummary:
    if task.error is None or len(task.error) <= MAX_ERROR:
        return task
    return task.model_copy(update={"error": beginning(task.error, MAX_ERROR)})


def _without(names: Mapping[str, Json], view: JobView) -> JobView:
    tasks = tuple(task.model_copy(update=names) for task in view.tasks)
    return view.model_copy(
        update={"tasks": tasks, "left_out": (*view.left_out, *map(to_camel, names))}
    )


def read_task(
    tenant: str,
    job_id: str,
    task_id: str,
    *,
    graph: TaskGraph,
    payloads: Payloads,
    files: TaskFiles,
    jobs: JobStore | None = None,
) -> TaskView:
    """`jobs` says when the task's job was created, where that is shown."""
    ref = task_ref(tenant, job_id, task_id)
    task = graph.find(ref)
    if task is None:
        raise UnknownTask(f"{task_id} in {job_id}")
    payload = payloads.read_what_is_left(ref)
    outcome = task.outcome or Outcome(state=task.state)
    stored = files.below(outcome.artifacts) if outcome.artifacts else ()
    taken = _bytes_of(stored) + bytes_in_answer(payload.depends_on)
    return TaskView(
        **_task_summary(task, payload.depends_on).model_dump(),
        **_outcome(task.outcome),
        job_id=job_id,
        request_id=ref.request_id,
        definition_version=task.definition_version,
        max_attempts=task.max_attempts,
        ready_at=instant(task.ready_at_ms),
        **_what_fits(payload, outcome, files, room=MAX_ANSWER_BYTES - taken),
        artifacts=files.place(outcome.artifacts) if outcome.artifacts else None,
        files=stored,
        event=(payload.hold or {}).get("event"),
        input_files=payload.files,
        required_artifacts=payload.artifacts,
        **_commitments(task),
        metadata=dict(payload.metadata),
        **_as_item(task, jobs),
    )


def _outcome(outcome: Outcome | None) -> dict[str, Json]:
    if outcome is None:
        return {}
    return {
        "error_category": outcome.error_category,
        "duration_ms": outcome.duration_ms,
        "input_tokens": outcome.usage.input_tokens,
        "output_tokens": outcome.usage.output_tokens,
        "cache_read_tokens": outcome.usage.cache_read_tokens,
    }


def _commitments(task: Task) -> dict[str, Json]:
    checked = task.commitments
    if checked is None:
        return {}
    settled = task.state is TaskState.COMPLETED
    return {
        "verified": checked.verified if settled else None,
        "commitments": tuple(CommitmentView(**asdict(one)) for one in checked.results),
        "commitments_checked_in": checked.attempt,
    }


def _as_item(task: Task, jobs: JobStore | None) -> dict[str, Json]:
    """Return what a work queue would say of the task."""
    claim, job = claim_of(task), jobs.find(task.ref.job) if jobs else None
    return {
        "item_status": item_status(task),
        "claimed_by": claim.claimed_by,
        "claimed_at": instant(claim.claimed_at_ms),
        "visible_at": instant(claim.visible_at_ms),
        "created_at": instant(job.created_at_ms) if job else None,
    }


def _what_fits(
    payload: Payload, outcome: Outcome, files: TaskFiles, *, room: int
) -> dict[str, Json]:
    """Return input and output, or where they are; the output first: a producer has the input."""
    shown: dict[str, Json] = {}
    for name, value, key in (
        ("output", payload.output, payload.output_key or f"{outcome.artifacts}{RESULT_FILE}"),
        ("input", payload.input, payload.input_key),
    ):
        size = bytes_in_answer(value)
        if size <= room:
            shown[name] = value
            room -= size
        elif key:
            shown |= {f"{name}_location": files.place(key), f"{name}_url": files.link(key)}
    return shown


def _bytes_of(links: tuple[FileLink, ...]) -> int:
    return sum(bytes_in_answer(link.model_dump(by_alias=True)) for link in links)


def bytes_in_answer(value: Json) -> int:
    """The body of an answer is a text within the function's own JSON."""
    return len(json.dumps(json.dumps(value)))


def job_ref(tenant: str, job_id: str) -> JobRef:
    if not JOB_ID.fullmatch(job_id):
        raise UnknownJob(job_id)
    return JobRef(tenant, job_id)


def task_ref(tenant: str, job_id: str, task_id: str) -> TaskRef:
    """Return the ref of a task that people may see. Its id may be encoded, as it is in a path."""
    ref = job_ref(tenant, job_id).task(unquote(task_id))
    if ref.hidden or not ANY_TASK_ID.fullmatch(ref.task_id):
        raise UnknownTask(f"{task_id} in {job_id}")
    return ref


def job_summary(job: Job) -> JobSummary:
    return JobSummary(
        job_id=job.ref.job_id,
        name=job.name,
        status=job.status,
        total_tasks=job.total_tasks,
        created_at=instant(job.created_at_ms),
        completed_at=instant(job.settled_at_ms),
        tags=dict(job.tags),
    )


def _task_summary(task: Task, depends_on: tuple[str, ...]) -> TaskSummary:
    outcome, last = task.outcome, last_event(task)
    return TaskSummary(
        task_id=task.ref.task_id,
        name=task.definition,
        kind=task.kind,
        held_until=instant(task.held_until_ms or None),
        depends_on=depends_on,
        status=task_status(task.state, attempt=task.attempt),
        run=task.run,
        last_event_type=last.event_type if last else None,
        last_event_at=instant(last.at_ms) if last else None,
        attempt=task.attempt,
        started_at=instant(task.started_at_ms),
        settled_at=instant(task.settled_at_ms),
        cost_usd=outcome.usage.cost_usd if outcome else 0.0,
        error=(outcome.error if outcome else None) or task.last_error,
        activity=_activity(task),
        cancel_requested=task.cancel_requested or None,
        queue=task.queue,
        priority=task.priority,
    )


def _activity(task: Task) -> str | None:
    """Return the task's current activity; the last signs of a task that has stopped say nothing."""
    running = task.state is TaskState.PROCESSING and task.signs
    return running.activity if running else None
