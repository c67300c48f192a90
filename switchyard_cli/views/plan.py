"""Show what submitting a job file would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType

from switchyard.contracts.wire import Written
from switchyard.domain.jobs.graph import roots, sinks
from switchyard.domain.states import Rule
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.levels import levels
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from rich.table import Table

    from switchyard.contracts.task_requests import TaskRequest
    from switchyard_cli.files.job_file import JobFile


class Plan(Written):
    name: str
    total_tasks: int
    levels: tuple[tuple[str, ...], ...]
    """Tasks of one level can run at the same time."""
    root_tasks: tuple[str, ...]
    result_tasks: tuple[str, ...]
    definitions_in_file: tuple[str, ...]
    definitions_expected: tuple[str, ...]
    """Used by a task but not in the file: they must be registered already."""


def plan_of(job: JobFile) -> Plan:
    specs = [task.spec() for task in job.tasks]
    used = {spec.name for spec in specs if spec.name}
    return Plan(
        name=job.name,
        total_tasks=len(specs),
        levels=tuple(map(tuple, levels({spec.task_id: spec.depends_on for spec in specs}))),
        root_tasks=roots(specs),
        result_tasks=sinks(specs),
        definitions_in_file=tuple(job.definitions),
        definitions_expected=tuple(sorted(used - set(job.definitions))),
    )


def print_plan(job: JobFile, console: Console) -> None:
    plan = plan_of(job)
    size = f"{counted(plan.total_tasks, 'task')} in {counted(len(plan.levels), 'level')}"
    console.print(heading(f"{plan.name}: {size}"))
    console.print(_table(job, plan))
    console.print(Group(*_facts(plan)))


def _table(job: JobFile, plan: Plan) -> Table:
    tasks = {task.task_id: task for task in job.tasks}
    table = table_of("level", "task", "definition", giving_way="after")
    for number, task_ids in enumerate(plan.levels, start=1):
        for task_id in task_ids:
            task = tasks[task_id]
            done_by = task.name or f"({task.kind})"
            table.add_row(str(number), task_id, done_by, cut_to_fit(_after(task), "dim"))
    return table


def _after(task: TaskRequest) -> str:
    rule = "" if task.rule is Rule.ALL_COMPLETED else f" ({task.rule})"
    condition = f" when {task.when}" if task.when else ""
    return f"{', '.join(task.depends_on)}{rule}{condition}{_for_each(task)}".lstrip()


def _for_each(task: TaskRequest) -> str:
    if not task.for_each:
        return ""
    lists = (task.for_each,) if isinstance(task.for_each, str) else task.for_each
    tolerated = f", {task.tolerate} may fail" if task.tolerate else ""
    return f" one per item of {' and '.join(lists)}{tolerated}"


def _facts(plan: Plan) -> list[RenderableType]:
    facts = {
        "Starts with": plan.root_tasks,
        "Ends with": plan.result_tasks,
        "Registers": plan.definitions_in_file,
        "Expects to be registered": plan.definitions_expected,
    }
    return [clean(f"{what}: {', '.join(names)}") for what, names in facts.items() if names]
