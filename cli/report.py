"""What a settled job leaves behind: results, failures, and where the files are."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from cli.api import Api
from cli.artifacts import bucket_prefix, folder_of
from cli.picture import in_running_order
from cli.stages import Endpoint
from cli.statuses import COMPLETED, FAILED
from cli.terminal import clean, heading
from cli.values import print_value
from switchyard.contracts.jobs import JobView, TaskSummary, TaskView
from switchyard.domain.jobs.graph import TaskSpec, sinks

MAX_TASKS_REPORTED: Final = 20  # each costs a request


def report(job: JobView, api: Api, console: Console) -> None:
    views = [api.task(job.job_id, task.task_id) for task in _most_telling(job.tasks)]
    results = result_tasks(job.tasks)
    for view in views:
        if view.task_id in results and view.status == COMPLETED:
            _print_output(view, console)
    for view in views:
        if view.status == FAILED:
            _print_failure(view, console)
    _print_files(views, api.endpoint, console)


def result_tasks(tasks: Sequence[TaskSummary]) -> set[str]:
    """Those that no other task waits for: their outputs are the job's result."""
    return set(
        sinks([TaskSpec(task_id=t.task_id, name=t.name, depends_on=t.depends_on) for t in tasks])
    )


def _print_output(view: TaskView, console: Console) -> None:
    console.print()
    console.print(heading(f"Output of {view.task_id}"))
    if view.output_location:
        console.print(f"too large to show: {clean(view.output_location)}", soft_wrap=True)
    else:
        print_value(view.output, console)


def _most_telling(tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """Failures and results if there are too many, and always in running order."""
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
    kept = [view for view in views if view.artifacts]
    if not kept:
        return
    console.print()
    console.print(heading("Artifacts, logs and traces"))
    folders = [folder_of(view, endpoint) for view in kept]
    for view, folder in zip(kept, folders, strict=True):
        place = str(folder) if folder else clean(view.artifacts or "")
        console.print(f"  {place}", soft_wrap=True)  # in one piece, to be copied
    if any(folders):
        prefix = clean(bucket_prefix(kept[0]))
        console.print(f"  The same in the bucket, below {prefix}", style="dim", soft_wrap=True)
