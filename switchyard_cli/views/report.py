"""Reports what a settled job leaves behind: results, failures, and where the files are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from switchyard.domain.jobs.graph import TaskSpec, sinks
from switchyard_cli.actions.task_files import bucket_prefix, folder_of
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.fan_outs import owner_of
from switchyard_cli.views.job_table import in_running_order
from switchyard_cli.views.statuses import COMPLETED, FAILED
from switchyard_cli.views.values import print_value

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.jobs import JobView, TaskSummary, TaskView
    from switchyard_cli.actions.interruption import NextCommands
    from switchyard_cli.connections.api import Api
    from switchyard_cli.connections.endpoints import Endpoint

MAX_TASKS_REPORTED: Final = 20  # each costs a request
MOST_SHOWN: Final = 5
"""The most outputs, and the most failures, that are shown; the others are one line."""


def report(job: JobView, api: Api, console: Console, commands: NextCommands) -> None:
    views = [api.task(job.job_id, task.task_id) for task in _most_informative(job.tasks)]
    look = commands.first(f"task {job.job_id} TASK")
    results = result_tasks(job.tasks)
    ends = {task.task_id for task in job.tasks if task.status == COMPLETED} & results
    completed = [view for view in views if view.task_id in ends][:MOST_SHOWN]
    for view in completed:
        _print_output(view, console)
    _print_others(len(ends) - len(completed), "outputs", look, console)
    failed = [view for view in views if view.status == FAILED][:MOST_SHOWN]
    for view in failed:
        _print_failure(view, console)
    failures = sum(task.status == FAILED for task in job.tasks)
    _print_others(failures - len(failed), "failures", look, console)
    _print_files(views, api.endpoint, console)


def result_tasks(tasks: Sequence[TaskSummary]) -> set[str]:
    """Return the tasks that no other waits for: their outputs are the job's result.

    The output of a fan-out has those of its items.
    """
    known = {task.task_id for task in tasks}
    declared = [task for task in tasks if owner_of(task.task_id) not in known]
    return set(
        sinks([TaskSpec(task_id=t.task_id, name=t.name, depends_on=t.depends_on) for t in declared])
    )


def _print_others(number: int, noun: str, look: str, console: Console) -> None:
    """Say how to see those that are not shown."""
    if number > 0:
        console.print(f"\n… and {number:,} more {noun}: {look}", style="dim", soft_wrap=True)


def _print_output(view: TaskView, console: Console) -> None:
    console.print()
    console.print(heading(f"Output of {view.task_id}"))
    if view.output_location:
        console.print(f"too large to show: {clean(view.output_location)}", soft_wrap=True)
    else:
        print_value(view.output, console)


def _most_informative(tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """Return failures and results if there are too many tasks, always in running order."""
    in_order = [task for _, task in in_running_order(tasks)]
    results = result_tasks(tasks)
    first = sorted(in_order, key=lambda t: t.status != FAILED and t.task_id not in results)
    chosen = first[:MAX_TASKS_REPORTED]
    return [task for task in in_order if task in chosen]


def _print_failure(view: TaskView, console: Console) -> None:
    console.print()
    console.print(heading(f"{view.task_id} failed", style="bold red"))
    console.print(clean(view.error or "no reason was recorded"), soft_wrap=True)


def _print_files(views: Sequence[TaskView], endpoint: Endpoint, console: Console) -> None:
    stored = [view for view in views if view.artifacts]
    if not stored:
        return
    console.print()
    console.print(heading("Artifacts, logs and traces"))
    folders = [folder_of(view, endpoint) for view in stored]
    for view, folder in zip(stored, folders, strict=True):
        place = str(folder) if folder else clean(view.artifacts or "")
        console.print(f"  {place}", soft_wrap=True)  # in one piece, to be copied
    if any(folders):
        prefix = clean(bucket_prefix(stored[0]))
        console.print(f"  The same in the bucket, below {prefix}", style="dim", soft_wrap=True)
