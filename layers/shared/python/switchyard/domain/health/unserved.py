"""Finds code that tasks wait for and no worker serves, and groups that no pool serves."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.groups import group_of_task
from switchyard.domain.tasks.task import Task, milliseconds

UNSERVED_AFTER_MS: Final = milliseconds(timedelta(minutes=10))
"""The time that tasks wait before an incident is posted: a rollout may be replacing workers."""
SHOWN_HASH: Final = 12


def code_name(function: str, code_hash: str) -> str:
    """Return how people and presence rows name code: its package and the beginning of its hash."""
    package = function.partition(":")[0].partition(".")[0]
    return f"{package}@{code_hash[:SHOWN_HASH]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnservedCode:
    """Code that no present worker has, and the tasks that wait for it."""

    code: str
    tasks: int
    first: TaskRef
    """The task that has waited for the longest time."""
    waiting_ms: int
    """The time for which that task has been ready."""


def unserved_code(
    waiting: Iterable[tuple[Task, str]], served: Collection[str], *, now_ms: int
) -> tuple[UnservedCode, ...]:
    """Group tasks by the code that they wait for and that no worker serves, by its name.

    Each of the tasks was claimed and handed back, and comes with the name of its code.
    """
    found: dict[str, list[Task]] = {}
    for task, code in waiting:
        if code not in served and _waited_ms(task, now_ms) >= UNSERVED_AFTER_MS:
            found.setdefault(code, []).append(task)
    return tuple(_unserved(code, found[code], now_ms) for code in sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnservedGroup:
    """A group that no pool subscribes to, and the tasks that wait in it."""

    group: str
    tasks: int
    first: TaskRef
    """The task that has waited for the longest time."""
    waiting_ms: int
    """For how long that task has been ready."""


def unserved_groups(
    waiting: Iterable[Task], served: Collection[str], *, now_ms: int
) -> tuple[UnservedGroup, ...]:
    """Group tasks that nobody can serve by their groups; `served` are those with a pool."""
    found: dict[str, list[Task]] = {}
    for task in waiting:
        group = group_of_task(task)
        if group not in served and _waited_ms(task, now_ms) >= UNSERVED_AFTER_MS:
            found.setdefault(group, []).append(task)
    return tuple(_unserved_group(group, found[group], now_ms) for group in sorted(found))


def _unserved_group(group: str, tasks: list[Task], now_ms: int) -> UnservedGroup:
    first = _longest_waiting(tasks)
    waiting_ms = _waited_ms(first, now_ms)
    return UnservedGroup(group=group, tasks=len(tasks), first=first.ref, waiting_ms=waiting_ms)


def _longest_waiting(tasks: list[Task]) -> Task:
    return min(tasks, key=lambda task: (task.ready_at_ms or 0, task.ref))


def _unserved(code: str, tasks: list[Task], now_ms: int) -> UnservedCode:
    first = _longest_waiting(tasks)
    return UnservedCode(
        code=code, tasks=len(tasks), first=first.ref, waiting_ms=_waited_ms(first, now_ms)
    )


def _waited_ms(task: Task, now_ms: int) -> int:
    since_ms = task.started_at_ms if task.ready_at_ms is None else task.ready_at_ms
    return max(0, now_ms - (since_ms or now_ms))
