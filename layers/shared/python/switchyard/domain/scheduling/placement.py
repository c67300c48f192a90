"""Where a task waits and under which limits: decided once, when it is submitted or made.

For the queue a task's own word comes before its job's, its job's before its definition's; without
any it is `default`. For the class the queue's word is the last one before `normal`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.ids import DEFAULT_QUEUE
from switchyard.domain.scheduling.classes import stored_class
from switchyard.domain.scheduling.limit_names import (
    LimitScope,
    UnresolvedKey,
    limits_of,
    parse_limit,
    resolved_limits,
    without_value,
)
from switchyard.domain.scheduling.work_queues import DefinitionTerms, WorkQueue, refers_to_input
from switchyard.domain.states import TaskKind
from switchyard.domain.tasks.task import MAX_ATTEMPTS, Json, Task

NO_TERMS: Final = DefinitionTerms()

Queues = Mapping[str, WorkQueue]
"""The queues that tasks name, by their names; `default` is not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a task or its job asks for."""

    queue: str | None = None
    priority: str | None = None

    def over(self, other: "Wish") -> "Wish":
        return Wish(queue=self.queue or other.queue, priority=self.priority or other.priority)


NO_WISH: Final = Wish()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    queue: str | None = None
    """`None` is `default`."""
    priority: str | None = None
    """`None` is `normal`."""
    lease_ms: int | None = None
    max_attempts: int = MAX_ATTEMPTS
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """What is known of the queues when tasks are made."""

    queues: Queues = field(default_factory=dict)
    wish: Wish = NO_WISH
    """What a new job asks for, for its tasks that ask for nothing themselves."""

    def inherited(self, wish: Wish, terms: DefinitionTerms | None) -> Placement:
        """Place a job that is a task: its tasks take it as the wish of their job."""
        of = terms or NO_TERMS
        wanted = wish.over(Wish(queue=of.queue, priority=of.priority))
        return Placement(queue=wanted.queue, priority=wanted.priority)

    def placed(
        self, wish: Wish, definition: str, terms: DefinitionTerms | None, *, max_attempts: int
    ) -> Placement:
        """Place a task that a worker runs; the keys of its limits are still texts."""
        of = terms or NO_TERMS
        name = wish.queue or of.queue or DEFAULT_QUEUE
        queue = self.queues.get(name)
        limits = limits_of(LimitScope.DEFINITION, definition, of.concurrency, of.starts_per_minute)
        if queue is not None:
            of_queue = (queue.concurrency, queue.starts_per_minute)
            limits = (*limits_of(LimitScope.QUEUE, name, *of_queue), *limits)
        return Placement(
            queue=None if name == DEFAULT_QUEUE else name,
            priority=stored_class(
                wish.priority or of.priority or (queue.priority if queue else None)
            ),
            lease_ms=queue.lease_ms if queue else None,
            max_attempts=tries(max_attempts, queue),
            limits=limits,
        )


NO_QUEUES: Final = Placing()


def tries(of_definition: int, queue: WorkQueue | None) -> int:
    """Return how often a task is tried: as the queue says, if the definition has the default."""
    if queue is None or queue.max_attempts is None or of_definition != MAX_ATTEMPTS:
        return of_definition
    return queue.max_attempts


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a redrive by the latest version of its definition changes of a task's place."""

    max_attempts: int
    limits: tuple[str, ...] | None
    """`None` leaves them as they are."""


def renewal_of(
    task: Task,
    terms: DefinitionTerms | None,
    *,
    max_attempts: int,
    queue: WorkQueue | None,
    given: Json,
) -> Renewal:
    """Return the limits of the latest version, and the tries that the task's queue allows.

    The task stays in its queue and its class: its producer may have named them.
    """
    of = terms or NO_TERMS
    named = limits_of(LimitScope.DEFINITION, task.definition, of.concurrency, of.starts_per_minute)
    if task.kind is None:
        named = limits_or_shared(named, given)
    if task.kind is TaskKind.JOB:
        named = ()
    of_queue = (one for one in task.limits if parse_limit(one).scope is LimitScope.QUEUE)
    limits = (*of_queue, *named)
    return Renewal(tries(max_attempts, queue), None if limits == task.limits else limits)


def needs_input(terms: DefinitionTerms | None) -> bool:
    """Tell whether the limits of a task depend on its input."""
    key = terms.concurrency.key if terms and terms.concurrency else None
    return key is not None and refers_to_input(key)


def limits_or_shared(limits: tuple[str, ...], given: Json) -> tuple[str, ...]:
    """Return limits with the values of their keys, where nobody is there to mend the input.

    A key whose value the input does not have counts as null: all such tasks share one place.
    """
    return tuple(_resolved_or_shared(limit, given) for limit in limits)


def _resolved_or_shared(limit: str, given: Json) -> str:
    try:
        (resolved,) = resolved_limits((limit,), given)
    except UnresolvedKey:
        return without_value(limit)
    return resolved
