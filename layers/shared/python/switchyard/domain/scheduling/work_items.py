"""A task in the words of a work queue: pending, claimed, completed, failed or dead-lettered."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task


class ItemStatus(StrEnum):
    PENDING = "pending"
    CLAIMED = "claimed"
    COMPLETED = "completed"
    FAILED = "failed"
    """An attempt failed; another one follows."""
    DEAD_LETTERED = "deadLettered"
    """It failed, and no attempt follows unless it is redriven."""


_STATUSES: Final = {
    TaskState.WAITING: ItemStatus.PENDING,
    TaskState.READY: ItemStatus.PENDING,
    TaskState.QUEUED: ItemStatus.PENDING,
    TaskState.HELD: ItemStatus.PENDING,
    TaskState.PROCESSING: ItemStatus.CLAIMED,
    TaskState.COMPLETED: ItemStatus.COMPLETED,
    TaskState.FAILED: ItemStatus.DEAD_LETTERED,
    TaskState.TIMED_OUT: ItemStatus.DEAD_LETTERED,
}
_MAY_FOLLOW_AN_ATTEMPT: Final = frozenset({TaskState.READY, TaskState.QUEUED})


def item_status(task: Task) -> ItemStatus | None:
    """Return `None` for a task that was skipped or cancelled: no queue has a word for that."""
    if task.state in _MAY_FOLLOW_AN_ATTEMPT and task.attempt:
        return ItemStatus.FAILED
    return _STATUSES.get(task.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The worker that has an item, since when, and when another worker may take it."""

    claimed_by: str | None = None
    claimed_at_ms: int | None = None
    visible_at_ms: int | None = None


def claim_of(task: Task) -> Claim:
    if task.state is TaskState.PROCESSING:
        return Claim(
            claimed_by=task.owner,
            claimed_at_ms=task.started_at_ms,
            visible_at_ms=task.lease_until_ms or None,
        )
    if task.state in _MAY_FOLLOW_AN_ATTEMPT:
        return Claim(visible_at_ms=max(task.not_before_ms, task.ready_at_ms or 0) or None)
    return Claim()
