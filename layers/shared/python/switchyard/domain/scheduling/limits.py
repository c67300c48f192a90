"""Limits of how many tasks run at once, or start in a minute: who has a place, and who waits.

A limit's item holds the set of those that have a place, not a number: a worker that takes a task
over finds it there, and what a crash left behind can be found and removed.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.scheduling.limit_names import parse_limit
from switchyard.domain.tasks.task import Task, TaskRun, milliseconds

MOST_HOLDERS: Final = 1_000
"""A limit above it is as good as none, and its item would be too large."""
MOST_WAITERS: Final = 100
"""The most waiting tasks that an item names; the index shows all of them."""
MINUTE_MS: Final = milliseconds(timedelta(minutes=1))
KEPT_SECONDS: Final = 90 * 86_400
"""After the last start an item is forgotten: a limit may have a key for each input."""


@dataclass(frozen=True, slots=True)
class LimitRef:
    tenant: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit as its item has it."""

    holders: frozenset[str] = frozenset()
    """`job#task@run` of each task that has a place."""
    waiters: frozenset[str] = frozenset()
    """The time from which each of those that wait may start, and the same."""
    minute: int = 0
    """The last one in which a task has started, of a limit of starts per minute."""
    started: int = 0
    """How many have started in it."""
    ttl: int = 0

    def free(self, name: str, *, now_ms: int) -> int:
        most = limit_of(name)
        if is_per_minute(name):
            used = self.started if self.minute >= minute_of(now_ms) else 0
        else:
            used = len(self.holders)
        return max(most - used, 0)


def limit_of(name: str) -> int:
    """Return how many a limit allows."""
    limit = parse_limit(name)
    return limit.number if limit.per_minute else min(limit.number, MOST_HOLDERS)


def is_per_minute(name: str) -> bool:
    """Tell a limit of starts in a minute from one of tasks that run at once."""
    return parse_limit(name).per_minute


def minute_of(now_ms: int) -> int:
    return now_ms // MINUTE_MS


def limits_of(task: Task) -> tuple[LimitRef, ...]:
    return tuple(LimitRef(task.ref.tenant, name) for name in dict.fromkeys(task.limits))


def holder_of(run: TaskRun) -> str:
    return f"{run.ref.job_id}#{run.ref.task_id}@{run.run}"


def waiter_of(task: Task) -> str:
    """Waiters sort by the time from which they may start."""
    _, _, from_ms = (task.ready_order or "").partition("#")
    return f"{from_ms}#{holder_of(task.this_run)}"


def run_of(tenant: str, holder: str) -> TaskRun:
    """Return the run that `holder_of` was asked about."""
    name, _, run = holder.rpartition("@")
    job_id, _, task_id = name.partition("#")
    return TaskRun(JobRef(tenant, job_id).task(task_id), int(run))


def run_of_waiter(tenant: str, waiter: str) -> TaskRun:
    return run_of(tenant, waiter.partition("#")[2])


def ref_of_waiter(tenant: str, waiter: str) -> TaskRef:
    return run_of_waiter(tenant, waiter).ref
