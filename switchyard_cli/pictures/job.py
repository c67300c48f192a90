"""Draws what became of a job, as far as it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard_cli.pictures.drawing import Drawing, Edge, Kind, Node
from switchyard_cli.views.wording import (
    cost,
    counted,
    duration,
    job_seconds,
    job_status,
    own_error,
    task_elapsed,
    task_status,
    total_cost,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from switchyard.contracts.jobs import JobView, TaskSummary

_KINDS = {kind.value: kind for kind in (Kind.APPROVAL, Kind.WAIT, Kind.SIGNAL, Kind.JOB)}


def drawing_of_job(job: JobView, *, now_ms: int) -> Drawing:
    lasted = duration(job_seconds(job, now_ms=now_ms))
    facts = [job_status(job), counted(job.total_tasks, "task"), lasted, total_cost(job)]
    known = {task.task_id for task in job.tasks}
    return Drawing(
        title=f"{job.name} ({job.job_id})",
        facts=(", ".join(filter(None, facts)),),
        nodes=[_node(task, job, now_ms) for task in job.tasks],
        edges=[
            Edge(parent, task.task_id, conditional=task.status == "skipped")
            for task in job.tasks
            for parent in dict.fromkeys(task.depends_on)
            if parent in known
        ],
    )


def _node(task: TaskSummary, job: JobView, now_ms: int) -> Node:
    return Node(
        name=task.task_id,
        title=task.task_id,
        kind=_KINDS.get(task.kind or "", Kind.TASK),
        notes=tuple(_notes(task, job, now_ms)),
        state=task.status,
        alike=task.name or task.kind or "",
    )


def _notes(task: TaskSummary, job: JobView, now_ms: int) -> Iterator[str]:
    if task.name and task.name != task.task_id:
        yield f"definition {task.name}"
    lasted = task_elapsed(task, now_ms=now_ms)
    spent = cost(task.cost_usd) if task.cost_usd else ""
    yield ", ".join(filter(None, [task_status(task, job), lasted, spent]))
    if task.attempt > 1 or task.run > 1:
        run = f"run {task.run}, " if task.run > 1 else ""
        yield f"{run}attempt {task.attempt}"
    if error := own_error(task):
        yield error
