"""What workers choose their tasks by: the ready index, tenants' clocks and limits of starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.ids import TaskRef
    from switchyard.domain.scheduling.limits import LimitRef
    from switchyard.domain.scheduling.ready import Partition, ReadyTask
    from switchyard.domain.tasks.task import Task, TaskRun


@dataclass(frozen=True, slots=True)
class PageOfReady:
    tasks: tuple[ReadyTask, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class ReadyIndex(Protocol):
    """Proposes tasks that may run. It may lag behind: the claim decides.

    Whoever makes a task READY, releases it or lets it enter has set its tenant's mark before.
    """

    def heads(self, group: str, tenant: str, *, now_ms: int, limit: int) -> Sequence[ReadyTask]:
        """Return up to `limit` tasks of each priority class that may start by now.

        Highest class first, within it the oldest first.
        """

    def count(self, group: str, tenant: str, *, now_ms: int, at_most: int) -> int:
        """Count the tasks that may start by now, and stop at `at_most`."""

    def holds_any(self, group: str, tenant: str) -> bool:
        """Tell whether there is any key: in any partition, and also of those that start later."""

    def enter(self, task: Task, *, now_ms: int) -> bool:
        """Give the task its key; `False` if it is not as read, or nobody may claim it.

        The task is READY, QUEUED, or PROCESSING with its lease over. One that is elsewhere in the
        index comes back.
        """

    def leave(self, task: Task) -> bool:
        """Remove the task's key; `False` if the task, or its key, is not as read."""

    def move(self, task: Task, partition: Partition) -> bool:
        """Move the task's key to another partition, or back; `False` if it is not as read.

        To `LIMITED` a task goes by `StartLimits.wait` alone.
        """

    def page(
        self, partition: Partition, group: str, tenant: str, *, limit: int, cursor: str | None
    ) -> PageOfReady:
        """List a partition, whenever its tasks may start: to move back what was moved away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantInGroup:
    tenant: str
    clock: float = 0.0
    """Dollars that were charged, divided by its weight."""
    weight: float = 1.0
    marked_at_ms: int | None = None
    """When it was last marked as having work; `None` if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClocks:
    tenants: tuple[TenantInGroup, ...] = ()
    """The tenants, by name; those without a mark have no work, but may have a weight."""
    floor: float = 0.0
    mean_cost_usd: float | None = None
    """The mean cost of a task; `None` before any was noted."""


class TenantClocks(Protocol):
    """Marks the tenants that have work in a group, and counts what they were charged there."""

    def of_group(self, group: str) -> GroupClocks:
        """Read the whole group, consistently, in one query."""

    def mark(self, group: str, tenant: str, *, now_ms: int) -> None:
        """Say that the tenant has work, before its key is written. An earlier time changes nothing.

        One that had no mark begins at the floor, or at its clock if that is higher.
        """

    def unmark(self, group: str, tenant: str, *, marked_at_ms: int) -> bool:
        """Remove the mark; `False` if it was set again since it was read."""

    def catch_up(self, group: str, tenant: str) -> None:
        """Raise the clock to the floor, if it is lower: it had no work for a while, and a mark."""

    def weigh(self, group: str, tenant: str, weight: float) -> None:
        """Set the tenant's weight; what it was charged stays divided by the one before."""

    def charge(self, group: str, charges: Mapping[str, float]) -> None:
        """Add to the clocks of tenants; each charge is divided by the weight already."""

    def raise_floor(self, group: str, clock: float) -> None:
        """Raise the group's floor; it never falls."""

    def note_cost(self, group: str, dollars: float, tasks: int) -> None:
        """Count what tasks have cost, for the mean."""


class StartLimits(Protocol):
    """Limits of how many tasks run at once, or start in a minute, and who waits for a place.

    `TaskLeases` takes places and gives them back.
    """

    def free(self, ref: LimitRef, *, now_ms: int) -> int:
        """Return how many places are free, read consistently."""

    def wait(self, task: Task, name: str, *, now_ms: int) -> bool:
        """Let the task wait for a place: its key goes to `LIMITED`, and its message is not needed.

        `False` if the limit is not full any more, or the task, which has a key, is not as read.
        """

    def waiters(self, ref: LimitRef, *, at_most: int) -> Sequence[TaskRef]:
        """List those that wait, as far as they are known, oldest first.

        The list is bounded: the index shows who else waits.
        """

    def let_in(self, ref: LimitRef, *, now_ms: int, at_most: int = 1) -> Sequence[Task]:
        """Move the oldest that wait back, no more than there are free places.

        Return those that were moved: each needs a message. Called after a place was given back,
        and by every sweep.
        """

    def holders(self, ref: LimitRef) -> Sequence[TaskRun]:
        """List the runs of tasks that have a place."""

    def remove_stale(self, ref: LimitRef, holder: TaskRun) -> bool:
        """Take the place of a run that nobody runs; `False` if it is PROCESSING, or has none."""
