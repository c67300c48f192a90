"""Work queues as tenants create, change and see them, and the items that they put in."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from switchyard.contracts.jobs import JobAccepted
from switchyard.contracts.scheduling import (
    ConcurrencyLimit,
    Metadata,
    Priority,
    QueueName,
    StartsPerMinute,
)
from switchyard.contracts.wire import (
    Closed,
    DefinitionName,
    JsonValue,
    Written,
    instant,
    unless_absent,
)
from switchyard.domain.moments import span_ms
from switchyard.domain.scheduling.work_queues import (
    LONGEST_LEASE_MS,
    SHORTEST_LEASE_MS,
    WorkQueue,
)
from switchyard.domain.tasks.task import MAX_ATTEMPTS


def _lease(given: int | str) -> int:
    milliseconds = span_ms(given) if isinstance(given, str) else given
    if milliseconds is None or not SHORTEST_LEASE_MS <= milliseconds <= LONGEST_LEASE_MS:
        raise ValueError("must be a span from 10s to 15m, or milliseconds from 10000 to 900000")
    return milliseconds


LeaseSpan = Annotated[int | str, AfterValidator(_lease)]
"""Milliseconds, which people may write as `90s` or `5m`."""
Attempts = Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)]


class CreateQueue(Closed):
    name: QueueName
    """`group` or `group/name`, in a group that the stage has."""
    lease: LeaseSpan | None = unless_absent()
    """How long a claim of one of its tasks is renewed for; the stage's own when absent."""
    max_attempts: Attempts | None = unless_absent()
    """How often its tasks are tried, unless their definition says otherwise."""
    priority: Priority | None = unless_absent()
    """The class of its tasks, unless they, their job or their definition name one."""
    concurrency: ConcurrencyLimit | None = unless_absent()
    """How many of its tasks may run at once, in all or for each value of a key."""
    starts_per_minute: StartsPerMinute | None = unless_absent()
    """How many of its tasks may start per minute."""


class ChangeQueue(Closed):
    """What is absent stays as it is; null takes a setting away."""

    lease: LeaseSpan | None = None
    """How long a claim of one of its tasks is renewed for."""
    max_attempts: Attempts | None = None
    """How often its tasks are tried, unless their definition says otherwise."""
    priority: Priority | None = None
    """The class of its tasks, unless they, their job or their definition name one."""
    concurrency: ConcurrencyLimit | None = None
    """How many of its tasks may run at once, in all or for each value of a key."""
    starts_per_minute: StartsPerMinute | None = None
    """How many of its tasks may start per minute."""
    version: int | None = Field(default=None, ge=1)
    """The version that was looked at; if it is given and the queue has another, it is refused."""


class QueueView(Written):
    name: str
    group: str
    """What pools subscribe to."""
    lease: int | None = unless_absent()
    """Milliseconds; the stage's own when absent."""
    max_attempts: int | None = unless_absent()
    priority: str
    concurrency: ConcurrencyLimit | None = unless_absent()
    starts_per_minute: int | None = unless_absent()
    created_by: str | None = unless_absent()
    """The id of the key that created it."""
    created_at: datetime | None = unless_absent()
    version: int
    """Counts its changes."""

    @classmethod
    def fields_of(cls, queue: WorkQueue) -> dict[str, Any]:
        limit = queue.concurrency
        return {
            "name": queue.name,
            "group": queue.group,
            "lease": queue.lease_ms,
            "max_attempts": queue.max_attempts,
            "priority": str(queue.priority),
            "concurrency": ConcurrencyLimit.of(limit) if limit else None,
            "starts_per_minute": queue.starts_per_minute,
            "created_by": queue.created_by,
            "created_at": instant(queue.created_at_ms or None),
            "version": queue.version,
        }

    @classmethod
    def of(cls, queue: WorkQueue) -> "QueueView":
        return cls(**cls.fields_of(queue))


class ClassCounts(Written):
    pending: int = 0
    in_flight: int = 0


class QueueDetails(QueueView):
    depth: int
    """How many tasks wait in it for a worker."""
    in_flight: int
    """How many of its tasks run."""
    consumers: int
    """How many workers run at least one of its tasks."""
    oldest_item_at: datetime | None = unless_absent()
    """Since when the oldest of those that wait could have started."""
    classes: dict[str, ClassCounts]
    """The same numbers by class, without classes that have none."""
    at_least: bool
    """Whether there may be more: counting ends at a bound, and the numbers are the least."""


class QueueList(Written):
    queues: tuple[QueueView, ...]
    cursor: str | None = None
    """From where to go on, if there are more than an answer holds."""


class QueueDeleted(Written):
    name: str


class PutItem(Closed):
    """An item for a queue: a job of one task."""

    definition: DefinitionName
    """What is to be done with it."""
    input: JsonValue = None
    priority: Priority | None = unless_absent()
    metadata: Metadata | None = unless_absent()
    """Texts by name, shown beside it."""


class ItemAccepted(JobAccepted):
    queue: str
    task_id: str
    request_id: str


class DeadLetter(Written):
    """A task that failed for good."""

    request_id: str
    job_id: str | None = unless_absent()
    """Absent for a task without a job."""
    task_id: str
    name: str
    """The definition's."""
    run: int
    attempts: int
    error: str | None = unless_absent()
    error_category: str | None = unless_absent()
    failed_at: datetime | None = unless_absent()


class DeadLetterPage(Written):
    dead_letters: tuple[DeadLetter, ...]
    """Newest first; a page may have none though others follow."""
    cursor: str | None = None
