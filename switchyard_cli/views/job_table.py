"""Show a job as a table: its tasks in running order, with the status of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.text import Text

from switchyard_cli.terminal import clean, styled
from switchyard_cli.views.fan_outs import collapsed, owner_of
from switchyard_cli.views.levels import levels
from switchyard_cli.views.statuses import COMPLETED, coloured, symbol
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import (
    byte_count,
    cost,
    duration,
    job_seconds,
    job_status,
    own_error,
    run_of,
    task_elapsed,
    task_status,
    total_cost,
)

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView, TaskSummary

INDENT: Final = "  "
MAX_INDENTS: Final = 10  # a chain of a thousand still begins on the screen
MAX_ROWS: Final = 200  # more than anybody reads; the rest is in `--json`
# Left out first when the screen is too small: settled tasks, then those that run last.
_LEFT_OUT_FIRST: Final = ("completed", "skipped", "cancelled", "waiting", "pending")


def job_table(job: JobView, *, now_ms: int, max_rows: int = MAX_ROWS) -> Group:
    rows = in_running_order(collapsed(job.tasks))
    shown = _fitting(rows, max_rows)
    table = table_of("task", "status", "time", "try", "cost", giving_way="after")
    for number in (table.columns[index] for index in (2, 3, 4)):
        number.justify = "right"
    for level, task in shown:
        table.add_row(*_row(task, job, level, now_ms))
    parts: list[RenderableType] = [header(job, now_ms=now_ms), table]
    if len(shown) < len(rows):
        parts.append(Text(f"… and {len(rows) - len(shown):,} more", style="dim"))
    if job.files:
        shown_files = (f"{file.name} ({byte_count(file.size)})" for file in job.files)
        parts.append(cut_to_fit(f"Files: {', '.join(shown_files)}", "dim"))
    return Group(*parts)


def header(job: JobView, *, now_ms: int) -> Text:
    completed = sum(task.status == COMPLETED for task in job.tasks)
    time = duration(job_seconds(job, now_ms=now_ms))
    facts = [
        coloured(job.status, job_status(job)),
        Text(f"{completed:,} of {job.total_tasks:,} tasks completed"),
        Text(", ".join(filter(None, [run_of(job), time]))),
        Text(total_cost(job)),
        styled(job.job_id, "dim"),
    ]
    title = Text.assemble(symbol(job.status), " ", styled(job.name, "bold"))
    return Text("  ").join([title, *(fact for fact in facts if fact)])


def in_running_order(tasks: Sequence[TaskSummary]) -> list[tuple[int, TaskSummary]]:
    """Return every task with its level: parents before children, items below their fan-out."""
    by_id = {task.task_id: task for task in tasks}
    items: dict[str, list[TaskSummary]] = {}
    for task in tasks:
        if (owner := owner_of(task.task_id)) in by_id:
            items.setdefault(owner or "", []).append(task)
    of_a_fan_out = {task.task_id for some in items.values() for task in some}
    parents = {
        task.task_id: [p for p in task.depends_on if p in by_id]
        for task in tasks
        if task.task_id not in of_a_fan_out
    }
    return [
        row
        for level, task_ids in enumerate(levels(parents))
        for task_id in task_ids
        for row in [(level, by_id[task_id]), *((level + 1, one) for one in items.get(task_id, ()))]
    ]


def _fitting(rows: list[tuple[int, TaskSummary]], max_rows: int) -> list[tuple[int, TaskSummary]]:
    for status in _LEFT_OUT_FIRST:
        surplus = len(rows) - max_rows
        if surplus <= 0:
            return rows
        droppable = [task.task_id for _, task in rows if task.status == status]
        # The last completed ones are the news; of those to come, the first are.
        dropped = set(droppable[:surplus] if status == COMPLETED else droppable[-surplus:])
        rows = [row for row in rows if row[1].task_id not in dropped]
    return rows[:max_rows]


def _row(task: TaskSummary, job: JobView, level: int, now_ms: int) -> tuple[Text, ...]:
    return (
        Text.assemble(
            INDENT * min(level, MAX_INDENTS), symbol(task.status), " ", clean(task.task_id)
        ),
        coloured(task.status, task_status(task, job)),
        Text(task_elapsed(task, now_ms=now_ms)),
        Text(str(task.attempt) if task.attempt else ""),
        Text(cost(task.cost_usd)),
        _last_column(task),
    )


def _last_column(task: TaskSummary) -> Text:
    error = own_error(task)
    if error:
        return cut_to_fit(error, "red")
    if task.activity:
        return cut_to_fit(task.activity.partition(":")[2], "cyan")
    follows = () if owner_of(task.task_id) else task.depends_on
    return cut_to_fit(", ".join(follows), "dim")
