"""Show the items of a fan-out in one row: ten thousand rows are more than anybody reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from switchyard_cli.views.statuses import COMPLETED

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskSummary

A_HANDFUL: Final = 5
"""So many items of a fan-out are shown one by one."""
_UNSETTLED: Final = frozenset({"waiting", "pending", "processing", "retrying", "held"})


def collapsed(tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """Return the tasks with one row for the items of each fan-out that has more than a few."""
    items: dict[str, list[TaskSummary]] = {}
    for task in tasks:
        owner, bracket, _ = task.task_id.partition("[")
        if bracket:
            items.setdefault(owner, []).append(task)
    many = {owner: some for owner, some in items.items() if len(some) > A_HANDFUL}
    shown = [task for task in tasks if task.task_id.partition("[")[0] not in many]
    for task in tasks:
        if task.task_id in many:
            shown += [task, _row_of(task, many[task.task_id])]
    return shown


def _row_of(fan_out: TaskSummary, items: Sequence[TaskSummary]) -> TaskSummary:
    """Return a row that looks like a task, with how many of the items are in which status."""
    counts = Counter(task.status for task in items)
    running = any(status in _UNSETTLED for status in counts)
    others = ", ".join(f"{n:,} {s}" for s, n in counts.most_common() if s != COMPLETED)
    said = f"{counts[COMPLETED]:,} of {len(items):,} completed"
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
            "activity": f"items:{said}{f', {others}' if others else ''}",
        }
    )
