"""`add`: more tasks for a job under way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.client import Refused
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.ids import job_named
from switchyard_cli.options import AdditionFileArgument, JobArgument, JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices, print_json, results
from switchyard_cli.views.levels import levels
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TasksAdded
    from switchyard_cli.files.job_file import AdditionFile
    from switchyard_cli.views.printed import AdditionPlan

DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Check the file and show what it would add; send nothing."),
]


def add(
    context: typer.Context,
    job: JobArgument,
    file: AdditionFileArgument,
    *,
    dry_run: DryRunOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Add tasks to a job that has not settled.

    They may depend on each other and on any task of the job; those whose parents have settled
    may run at once. Every problem is listed with its line.
    """
    from switchyard_cli.actions.submit import add as send
    from switchyard_cli.files.job_file import read_addition

    job_id = job_named(job)
    if dry_run:
        from switchyard_cli.files.static_checks import static_problems

        addition = read_addition(file, also=static_problems)
        _show_plan(addition.content, file, as_json=as_json)
        return
    addition = read_addition(file)
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        added = send(addition, job_id, api, clock=services.clock)
    if as_json:
        print_json(added)
    else:
        _print_added(added, stage)
    if added.problem:
        given = counted(len(addition.content.tasks), "task")
        raise Refused(f"{len(added.added_tasks)} of {given} were added: {clean(added.problem)}.")


def plan_of(file: AdditionFile) -> AdditionPlan:
    from switchyard_cli.views.printed import AdditionPlan

    new = {task.task_id for task in file.tasks}
    among = {task.task_id: [p for p in task.depends_on if p in new] for task in file.tasks}
    used = {task.name for task in file.tasks if task.name}
    return AdditionPlan(
        levels=tuple(map(tuple, levels(among))),
        tasks_expected=file.expected,
        definitions_in_file=tuple(file.definitions),
        definitions_expected=tuple(sorted(used - set(file.definitions))),
    )


def _show_plan(file: AdditionFile, path: Path, *, as_json: bool) -> None:
    plan = plan_of(file)
    if as_json:
        print_json(plan)
        return
    facts = {
        **{f"Level {n}": names for n, names in enumerate(plan.levels, start=1)},
        "Expects in the job": plan.tasks_expected,
        "Registers": plan.definitions_in_file,
        "Expects to be registered": plan.definitions_expected,
    }
    for what, names in facts.items():
        if names:
            results().print(clean(f"{what}: {', '.join(names)}"), soft_wrap=True)
    notices().print(f"{path} is valid; nothing was sent.", style="dim", soft_wrap=True)


def _print_added(added: TasksAdded, stage: Stage) -> None:
    ready = len(added.immediately_ready)
    start = f"{ready:,} can start now" if ready else "none can start yet"
    said = f"{added.job_id}: {counted(len(added.added_tasks), 'task')} added, {start}; "
    results().print(f"{said}{added.total_tasks_now:,} in all", soft_wrap=True)
    hint = f"Watch it with `switchyard watch {added.job_id}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)
