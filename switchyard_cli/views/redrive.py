"""Shows people what a redrive will run, and what it has begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from switchyard_cli.terminal import clean
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from switchyard.contracts.changes import PlannedTask, RedriveAccepted

MOST_SHOWN: Final = 50
MOST_NAMED: Final = 5


def print_planned(planned: RedriveAccepted, console: Console) -> None:
    """List what will run, and say in one line what that cost the last time."""
    console.print(f"{planned.job_id}: run {planned.run} will run", soft_wrap=True)
    for task in planned.planned_tasks[:MOST_SHOWN]:
        console.print(f"  {clean(_row(task))}", soft_wrap=True, markup=False)
    more = planned.reopened_tasks - min(len(planned.planned_tasks), MOST_SHOWN)
    if more:
        console.print(f"  … and {more:,} more", soft_wrap=True)
    console.print(_cost(planned), soft_wrap=True)


def _row(task: PlannedTask) -> str:
    when = "" if task.at_once else "; if its rule and its condition hold"
    items = "" if task.items is None else f", with its {counted(task.items, 'item')} made anew"
    cost = f", cost ${task.cost_usd:,.4f}" if task.cost_usd else ""
    return f"{task.task_id} ({task.status}{cost}){items}{when}"


def _cost(planned: RedriveAccepted) -> str:
    tasks = counted(planned.reopened_tasks, "task")
    if not planned.cost_usd:
        return f"{tasks}, which cost nothing the last time."
    return f"{tasks}, which cost ${planned.cost_usd:,.4f} the last time: that is paid again."


def redrive_hints(accepted: RedriveAccepted, option: str) -> Iterator[str]:
    """Say what stays as it is, or runs as it was, and which command changes that."""
    command = f"switchyard redrive {accepted.job_id}"
    stale = accepted.stale_tasks
    if stale:
        flags = " ".join(f"--from '{name}'" for name in stale[:1])
        used = "used what is made anew, and stays" if len(stale) == 1 else "used it, and stay"
        yield (
            f"{_named(stale)} completed before, {used} as before. "
            f"`{command} {flags}{option}` runs it again, once the job has settled."
        )
    older = accepted.older_versions
    if older:
        one = older[0]
        yield (
            f"{_named([task.task_id for task in older])} runs an older version of its definition: "
            f"{one.definition} has version {one.latest}, and {one.task_id} runs {one.version}. "
            "Add --latest to run the latest."
        )


def _named(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
