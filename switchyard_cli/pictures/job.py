"""Draws what became of a job, as far as it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard_cli.pictures.drawing import Drawing, Edge, Kind, Node, kind_of_definition
from switchyard_cli.views.fan_outs import owner_of
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
    from collections.abc import Iterator, Mapping, Sequence

    from switchyard.contracts.jobs import JobView, TaskSummary

_KINDS = {kind.value: kind for kind in (Kind.APPROVAL, Kind.WAIT, Kind.SIGNAL, Kind.JOB)}


def drawing_of_job(job: JobView, *, now_ms: int, kinds: Mapping[str, str] | None = None) -> Drawing:
    """Draw the job; `kinds` has what its definitions are, as far as it is known."""
    lasted = duration(job_seconds(job, now_ms=now_ms))
    facts = [job_status(job), counted(job.total_tasks, "task"), lasted, total_cost(job)]
    return Drawing(
        title=f"{job.name} ({job.job_id})",
        facts=(", ".join(filter(None, facts)),),
        nodes=[_node(task, job, now_ms, kinds or {}) for task in job.tasks],
        edges=list(_edges(job.tasks)),
    )


def _edges(tasks: Sequence[TaskSummary]) -> Iterator[Edge]:
    """Yield the dependencies; an item of a fan-out follows that alone."""
    known = {task.task_id for task in tasks}
    for task in tasks:
        owner = owner_of(task.task_id)
        parents = (owner,) if owner in known else task.depends_on
        for parent in dict.fromkeys(parents):
            if parent in known:
                yield Edge(str(parent), task.task_id, conditional=task.status == "skipped")


def _node(task: TaskSummary, job: JobView, now_ms: int, kinds: Mapping[str, str]) -> Node:
    return Node(
        name=task.task_id,
        title=task.task_id,
        kind=_KINDS.get(task.kind or "") or kind_of_definition(kinds.get(task.name)),
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
