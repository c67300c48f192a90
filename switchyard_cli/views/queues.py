"""Work queues and their items, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.tables import cut_to_fit, table_of

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.scheduling.work_queues import DeadLetter, QueueDetails, QueueView


def print_queues(queues: Sequence[QueueView], console: Console) -> None:
    table = table_of("queue", "class", "version", giving_way="settings")
    for queue in queues:
        settings = ", ".join(f"{name} {value}" for name, value in _settings(queue).items())
        table.add_row(clean(queue.name), queue.priority, str(queue.version), cut_to_fit(settings))
    console.print(table)


def print_queue(queue: QueueDetails, console: Console, *, now_ms: int) -> None:
    console.print(heading(queue.name))
    least = "at least " if queue.at_least else ""
    facts = {
        "group": queue.group,
        "class": queue.priority,
        **_settings(queue),
        "waiting": f"{least}{queue.depth:,}",
        "running": f"{least}{queue.in_flight:,} on {queue.consumers:,} workers",
        "oldest": _age(queue, now_ms),
        **{
            name: f"{counts.pending:,} waiting, {counts.in_flight:,} running"
            for name, counts in queue.classes.items()
        },
        "version": str(queue.version),
    }
    for name, value in facts.items():
        if value:
            console.print(f"{name.ljust(12)}{clean(value)}", soft_wrap=True)


def print_dead_letters(letters: Sequence[DeadLetter], console: Console) -> None:
    if not letters:
        console.print("No task of this queue among the failures looked at.")
        return
    table = table_of("task", "definition", "attempts", "failed at", giving_way="error")
    for letter in letters:
        at = f"{letter.failed_at:%Y-%m-%d %H:%M:%S}" if letter.failed_at else ""
        facts = (clean(letter.name), str(letter.attempts), at, cut_to_fit(letter.error or ""))
        table.add_row(clean(letter.request_id), *facts)
    console.print(table)


def _settings(queue: QueueView) -> dict[str, str]:
    """Return what the queue says, in words."""
    limit = queue.concurrency
    said = {
        "lease": f"{queue.lease / 1000:g} s" if queue.lease else "",
        "attempts": str(queue.max_attempts or ""),
        "at once": f"{limit.limit:,}{f' by {limit.key}' if limit.key else ''}" if limit else "",
        "per minute": f"{queue.starts_per_minute:,}" if queue.starts_per_minute else "",
    }
    return {name: value for name, value in said.items() if value}


def _age(queue: QueueDetails, now_ms: int) -> str:
    if queue.oldest_item_at is None:
        return ""
    seconds = max(0, round(now_ms / 1000 - queue.oldest_item_at.timestamp()))
    return f"ready for {seconds:,} s"
