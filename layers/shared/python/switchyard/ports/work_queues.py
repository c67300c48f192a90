"""Work queues: the rows that tenants create, and what is in one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from switchyard.domain.scheduling.work_queues import WorkQueue


@dataclass(frozen=True, slots=True)
class PageOfQueues:
    queues: tuple[WorkQueue, ...]
    after: str | None
    """The name to go on behind; `None` behind the last one."""


class WorkQueueStore(Protocol):
    """A tenant's work queues, by name. `default`, which always exists, is not among them."""

    def create(self, queue: WorkQueue) -> bool:
        """Return `False` when there is one of its name."""

    def find_many(self, tenant: str, names: Iterable[str]) -> Mapping[str, WorkQueue]:
        """Return those of `names` that exist. Without names nothing is read."""

    def page(self, tenant: str, *, limit: int, after: str | None = None) -> PageOfQueues:
        """Return queues by name. A page may have fewer than `limit`, though others follow."""

    def change(self, queue: WorkQueue) -> WorkQueue:
        """Write it in the place of the one with the same version; return it with the next one.

        Raise `Conflict` if that was changed since, and `UnknownWorkQueue`.
        """

    def delete(self, queue: WorkQueue, *, now_ms: int) -> None:
        """Raise `Conflict` if it was changed since, and `UnknownWorkQueue`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What waits in a queue or runs; as far as one looked, if it is `partial`."""

    pending: Mapping[str, int] = field(default_factory=dict)
    """How many tasks wait, by class."""
    in_flight: Mapping[str, int] = field(default_factory=dict)
    """How many tasks run, by class."""
    consumers: int = 0
    """How many workers run at least one of them."""
    oldest_ready_at_ms: int | None = None
    """Since when the oldest of those that wait could have started."""
    partial: bool = False
    """Whether there may be more than were counted: the numbers are the least."""

    @property
    def empty(self) -> bool:
        return not self.pending and not self.in_flight


class QueueContents(Protocol):
    """Counts what is in a queue, at a cost that has a bound."""

    def of(self, tenant: str, queue: str) -> Contents:
        """Count the tasks of one tenant that wait in the queue, or run. `default` has a name."""
