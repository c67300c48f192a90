"""Draws the plan of a job file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard.contracts.files import ListInFile
from switchyard.domain.states import Rule, TaskKind
from switchyard_cli.pictures.drawing import Drawing, Edge, Kind, Node, kind_of_definition
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from switchyard.contracts.task_requests import TaskRequest
    from switchyard_cli.files.job_file import JobFile

_KINDS = {
    TaskKind.APPROVAL: Kind.APPROVAL,
    TaskKind.WAIT: Kind.WAIT,
    TaskKind.SIGNAL: Kind.SIGNAL,
    TaskKind.JOB: Kind.JOB,
}


def drawing_of_plan(job: JobFile, registered: Mapping[str, str] | None = None) -> Drawing:
    """Draw the plan; `registered` has what definitions are that are not in the file."""
    kinds = {**(registered or {}), **{name: one.kind for name, one in job.definitions.items()}}
    return Drawing(
        title=job.name,
        facts=(counted(len(job.tasks), "task"),),
        nodes=[_node(task, job, kinds) for task in job.tasks],
        edges=[
            Edge(parent, task.task_id, conditional=task.when is not None)
            for task in job.tasks
            for parent in dict.fromkeys(task.depends_on)
        ],
    )


def _node(task: TaskRequest, job: JobFile, kinds: Mapping[str, str]) -> Node:
    items = task.for_each.file if isinstance(task.for_each, ListInFile) else task.for_each
    return Node(
        name=task.task_id,
        title=task.task_id,
        kind=_kind(task, kinds),
        notes=(*_notes_of_template(task, job), *_notes(task, items)),
        alike=task.name or str(task.kind),
        many=items is not None,
    )


def _kind(task: TaskRequest, kinds: Mapping[str, str]) -> Kind:
    if task.kind is not None:
        return _KINDS[task.kind]
    return kind_of_definition(kinds.get(task.name or ""))


def _notes_of_template(task: TaskRequest, job: JobFile) -> Iterator[str]:
    """Say what a job within the job is made of, as far as the file shows it."""
    if task.kind is TaskKind.JOB:
        definition = job.definitions.get(task.name or "")
        made = len(definition.tasks or ()) if definition else 0
        yield f"template {task.name}" + (f" of {counted(made, 'task')}" if made else "")


def _notes(task: TaskRequest, items: str | tuple[str, ...] | None) -> Iterator[str]:
    if task.name and task.name != task.task_id and task.kind is None:
        yield f"definition {task.name}"
    if items is not None:
        yield from _notes_of_items(items, task.tolerate)
    if task.question:
        yield task.question
    if task.wait_for is not None or task.until is not None:
        yield (
            f"for {_span(task.wait_for)}" if task.wait_for else f"until {task.until:%Y-%m-%d %H:%M}"
        )
    if task.timeout is not None:
        yield f"within {_span(task.timeout)}"
    if task.rule is not Rule.ALL_COMPLETED:
        yield f"rule {task.rule}"
    if task.when:
        yield f"when {task.when}"


def _notes_of_items(items: str | tuple[str, ...], tolerate: int | str | None) -> Iterator[str]:
    lists = items if isinstance(items, str) else " and ".join(items)
    yield f"one per item of {lists}, count not known yet"
    if tolerate:
        yield f"{tolerate} may fail"


_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))


def _span(milliseconds: int | str) -> str:
    """Return a span as people write it, such as 2h."""
    whole = int(milliseconds)
    unit, size = next((one for one in _UNITS if whole % one[1] == 0), ("ms", 1))
    return f"{whole // size}{unit}"
