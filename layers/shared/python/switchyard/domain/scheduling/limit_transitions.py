"""Changes of a limit's item. Each is part of a transaction with a change of the task that it is
about, or with a check of it; `docs/protocol.md` says why."""

from switchyard.domain.scheduling.limits import (
    KEPT_SECONDS,
    MOST_WAITERS,
    Limit,
    holder_of,
    is_per_minute,
    limit_of,
    minute_of,
    waiter_of,
)
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.domain.transition import (
    Absent,
    AnyOf,
    Contains,
    Guard,
    Present,
    Sized,
    Transition,
    at_least,
    below,
    equal,
)


def take_place(task: Task, name: str, limit: Limit, *, now_ms: int) -> Transition:
    """Give the task a place, with its claim; `limit` as read tells which minute is counted."""
    kept = {"ttl": now_ms // 1000 + KEPT_SECONDS}
    if is_per_minute(name):
        return _start_in_minute(name, limit, now_ms=now_ms, kept=kept)
    holder, most = holder_of(task.this_run), limit_of(name)
    has_one = (Contains("holders", holder),)
    free = AnyOf(((Absent("holders"),), has_one, (Sized("holders", "<", most),)))
    return Transition(
        name="take_place", guard=(free,), sets=kept, adds={"holders": frozenset({holder})}
    )


def _start_in_minute(name: str, limit: Limit, *, now_ms: int, kept: dict[str, int]) -> Transition:
    minute = minute_of(now_ms)
    if limit.minute >= minute:
        guard = (equal("minute", limit.minute), below("started", limit_of(name)))
        return Transition(name="take_place", guard=guard, sets=kept, adds={"started": 1})
    earlier = AnyOf(((Absent("minute"),), (below("minute", minute),)))
    begun = {"minute": minute, "started": 1}
    return Transition(name="take_place", guard=(earlier,), sets=begun | kept)


def give_place_back(task: Task) -> Transition:
    """Remove the task from those that have a place, with the end of its lease."""
    return Transition(
        name="give_place_back", guard=(), deletes={"holders": frozenset({holder_of(task.this_run)})}
    )


def add_waiter(task: Task, name: str, limit: Limit, *, now_ms: int) -> Transition:
    """Note that the task waits for a place, while the limit is full; `limit` as read.

    Beyond a bound none is noted: the index shows it, and a sweep moves it back.
    """
    waiters = {"waiters": frozenset({waiter_of(task)})}
    return Transition(
        name="add_waiter",
        guard=_full(name, now_ms=now_ms),
        adds=waiters if len(limit.waiters) < MOST_WAITERS else {},
    )


def _full(name: str, *, now_ms: int) -> Guard:
    if is_per_minute(name):
        return (at_least("minute", minute_of(now_ms)), at_least("started", limit_of(name)))
    return (Present("holders"), Sized("holders", ">=", limit_of(name)))


def remove_waiter(waiter: str) -> Transition:
    """Forget one that waited, when it is moved back, or does not wait any more."""
    return Transition(name="remove_waiter", guard=(), deletes={"waiters": frozenset({waiter})})


def remove_holder(run: TaskRun) -> Transition:
    """Take a place away, with a check that nobody runs its task in that run."""
    holder = holder_of(run)
    return Transition(
        name="remove_holder",
        guard=(Contains("holders", holder),),
        deletes={"holders": frozenset({holder})},
    )
