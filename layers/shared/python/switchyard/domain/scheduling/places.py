"""The places of limits that a task takes with its claim, and gives back with its lease."""

from collections.abc import Mapping

from switchyard.domain.scheduling.limit_transitions import give_place_back, take_place
from switchyard.domain.scheduling.limits import Limit, LimitRef, limits_of
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import Transition, holds

Limits = Mapping[LimitRef, Limit]
"""Limits by their refs, as they were read; one that is absent has no item."""
Place = tuple[LimitRef, Transition]


def places_taken(task: Task, limits: Limits, *, now_ms: int) -> list[Place]:
    """Return what a claim of the task writes to its limits."""
    return [
        (ref, take_place(task, ref.name, limits.get(ref, Limit()), now_ms=now_ms))
        for ref in limits_of(task)
    ]


def places_given_back(task: Task) -> list[Place]:
    """Return what every way out of a lease writes to the task's limits."""
    return [(ref, give_place_back(task)) for ref in limits_of(task)]


def first_full(task: Task, limits: Limits, *, now_ms: int) -> LimitRef | None:
    """Return the limit that keeps the task from being claimed; `None` if none does."""
    taken = places_taken(task, limits, now_ms=now_ms)
    return next(
        (ref for ref, place in taken if not holds(place.guard, limits.get(ref, Limit()))), None
    )
