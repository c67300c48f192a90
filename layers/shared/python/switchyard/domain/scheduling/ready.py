"""The key of a task in the ready index, which proposes tasks to the workers of a pool.

It may lag behind the task, or be wrong: the claim decides.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task

DEFAULT_QUEUE: Final = "default"
NORMAL: Final = "normal"
CLASSES: Final = ("high", NORMAL, "low")
"""Priority classes, in the order of the index."""
READY_KEY: Final = ("ready_in", "ready_order")
"""The fields of a task that are its key: both are there, or none."""
_DIGITS: Final = 13
"""The digits of a time in milliseconds, until the year 2286."""


class Partition(StrEnum):
    """A part of the index for each tenant in a group: workers choose among those that are ready."""

    READY = ""
    HELD = "held"
    """Paused: its queue, its definition or its tenant."""
    LIMITED = "limited"
    """A limit is full: a worker that frees a place moves it back."""
    UNSERVED = "unserved"
    """The worker that met it lacks its code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyTask:
    """A task as the index shows it, which may lag."""

    ref: TaskRef
    queue: str
    definition: str
    priority: str
    ready_from_ms: int
    lease_ms: int | None = None
    limits: tuple[str, ...] = ()


def group_of(queue: str | None) -> str:
    """Return the group that pools subscribe to: what is before the `/` in the queue's name."""
    return (queue or DEFAULT_QUEUE).partition("/")[0]


def ready_partition(group: str, tenant: str, partition: Partition = Partition.READY) -> str:
    """Name a partition of the index; neither a group nor a tenant has a `#` in its name."""
    return f"{partition}#{group}#{tenant}" if partition else f"{group}#{tenant}"


def ready_order(priority: str | None, from_ms: int) -> str:
    """Return where a task stands in its partition: by class, then by when it may start."""
    return f"{class_number(priority)}#{max(from_ms, 0):0{_DIGITS}d}"


def class_number(priority: str | None) -> int:
    """Return 1 to 3; a class of a newer version is normal here."""
    return CLASSES.index(priority if priority in CLASSES else NORMAL) + 1


def class_and_time(order: str) -> tuple[str, int]:
    """Return the priority class and the time that `ready_order` was made of."""
    number, _, time = order.partition("#")
    return CLASSES[int(number) - 1], int(time)


def ready_key(task: Task, from_ms: int) -> dict[str, str]:
    """Return the fields that are the task's key, if it may start at this time.

    None for a task that no worker runs: it has a kind, or is hidden.
    """
    if task.kind is not None or task.ref.hidden:
        return {}
    return {
        "ready_in": ready_partition(group_of(task.queue), task.ref.tenant),
        "ready_order": ready_order(task.priority, from_ms),
    }


def may_start_at_ms(task: Task, now_ms: int) -> int | None:
    """Return the time in the key of a task as it is; `None` if it must not have one now."""
    if task.kind is not None or task.ref.hidden:
        return None
    match task.state:
        case TaskState.READY | TaskState.QUEUED:
            return max(task.ready_at_ms or 0, task.not_before_ms) or now_ms
        case TaskState.PROCESSING if task.lease_until_ms < now_ms:
            return task.lease_until_ms
    return None


def partition_of(task: Task) -> Partition | None:
    """Return the partition that a task's key is in; `None` without a key."""
    if task.ready_in is None:
        return None
    first, _, rest = task.ready_in.partition("#")
    return Partition(first) if "#" in rest else Partition.READY


def as_ready(task: Task) -> ReadyTask:
    """Return a task with a key as the index shows it."""
    _, from_ms = class_and_time(task.ready_order or ready_order(None, 0))
    return ReadyTask(
        ref=task.ref,
        queue=task.queue or DEFAULT_QUEUE,
        definition=task.definition,
        priority=task.priority or NORMAL,
        ready_from_ms=from_ms,
        lease_ms=task.lease_ms,
        limits=task.limits,
    )
