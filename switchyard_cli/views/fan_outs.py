"""Show the items of a fan-out below it; many in one row, since ten thousand rows are unreadable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from switchyard_cli.views.statuses import COMPLETED

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskSummary

A_HANDFUL: Final = 5
"""The most items of a fan-out that are shown one by one."""
_UNSETTLED: Final = frozenset({"waiting", "pending", "processing", "retrying", "held"})


def collapsed(tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """Return the tasks with one row for the items of each fan-out that has more than a few.

    A fan-out with a few items says itself how many of them have completed.
    """
    items: dict[str, list[TaskSummary]] = {}
    for task in tasks:
        if owner := owner_of(task.task_id):
            items.setdefault(owner, []).append(task)
    many = {owner: some for owner, some in items.items() if len(some) > A_HANDFUL}
    shown: list[TaskSummary] = []
    for task in tasks:
        if task.task_id in many:
            shown += [task, _row_of(task, many[task.task_id])]
        elif task.task_id in items:
            shown.append(_with_counts(task, items[task.task_id]))
        elif owner_of(task.task_id) not in many:
            shown.append(task)
    return shown


def owner_of(task_id: str) -> str | None:
    """Return the fan-out that an item belongs to; `None` for any other task."""
    owner, bracket, _ = task_id.partition("[")
    return owner if bracket else None


def _with_counts(fan_out: TaskSummary, items: Sequence[TaskSummary]) -> TaskSummary:
    return fan_out.model_copy(update={"activity": f"items:{_counts_of(items)}"})


def _counts_of(items: Sequence[TaskSummary]) -> str:
    counts = Counter(task.status for task in items)
    others = "".join(f", {n:,} {s}" for s, n in counts.most_common() if s != COMPLETED)
    return f"{counts[COMPLETED]:,} of {len(items):,} completed{others}"


def _row_of(fan_out: TaskSummary, items: Sequence[TaskSummary]) -> TaskSummary:
    """Return a row that looks like a task, with how many of the items are in which status."""
    running = any(task.status in _UNSETTLED for task in items)
    return fan_out.model_copy(
        update={
            "task_id": f"{fan_out.task_id}[…]",
            "kind": None,
            "status": "processing" if running else COMPLETED,
            "error": None,
            "attempt": 0,
            "started_at": None,
            "settled_at": None,
            "cost_usd": sum(task.cost_usd for task in items),
            "activity": f"items:{_counts_of(items)}",
        }
    )
