"""Show what submitting a job file would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType

from switchyard.contracts.wire import Written
from switchyard.domain.jobs.graph import roots, sinks
from switchyard_cli.pictures.plan import drawing_of_plan
from switchyard_cli.pictures.text import text_lines
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.levels import levels
from switchyard_cli.views.tables import one_line
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard_cli.files.job_file import JobFile


MOST_NAMES: Final = 20


class Plan(Written):
    name: str
    total_tasks: int
    levels: tuple[tuple[str, ...], ...]
    """Tasks of one level can run at the same time."""
    root_tasks: tuple[str, ...]
    result_tasks: tuple[str, ...]
    definitions_in_file: tuple[str, ...]
    definitions_expected: tuple[str, ...]
    """Definitions that a task uses but the file lacks: they must be registered already."""


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


def print_plan(job: JobFile, console: Console, kinds: Mapping[str, str]) -> None:
    """Print the plan; `kinds` has what the registered definitions are, as far as it is known."""
    plan = plan_of(job)
    size = f"{counted(plan.total_tasks, 'task')} in {counted(len(plan.levels), 'level')}"
    console.print(heading(f"{plan.name}: {size}"))
    for line in text_lines(drawing_of_plan(job, kinds)):
        console.print(one_line(line))
    console.print(Group(*_facts(plan)))


def _facts(plan: Plan) -> list[RenderableType]:
    facts = {
        "Starts with": plan.root_tasks,
        "Ends with": plan.result_tasks,
        "Registers": plan.definitions_in_file,
        "Expects to be registered": plan.definitions_expected,
    }
    return [_fact(what, names) for what, names in facts.items() if names]


def _fact(what: str, names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    others = f" and {more:,} more" if more > 0 else ""
    return clean(f"{what}: {', '.join(names[:MOST_NAMES])}{others}")
