"""Decides by how many failed attempts a task moves to the group of another model tier."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.scheduling.groups import TIERS, group_of_task
from switchyard.domain.tasks.task import Task

MAX_AFTER: Final = 10


@dataclass(frozen=True, slots=True)
class Escalation:
    """After so many failed attempts, the tier that is tried next."""

    after: int
    to: str

    def __post_init__(self) -> None:
        if not 1 <= self.after <= MAX_AFTER:
            raise ValueError(f"after is {self.after}; it lies between 1 and {MAX_AFTER}")
        problem = problem_with_tier(self.to)
        if problem:
            raise ValueError(f"to: {problem}")


def problem_with_tier(tier: str) -> str | None:
    """Say what is wrong with the name of a tier, if anything."""
    if tier in TIERS:
        return None
    return f"there is no tier '{tier[:50]}'; the tiers are {', '.join(TIERS)}"


def group_of_tier(tier: str) -> str:
    """Resolve a tier to its group, which has the same name; raise `ValueError` if unknown."""
    problem = problem_with_tier(tier)
    if problem:
        raise ValueError(problem)
    return tier


def queue_after_failure(task: Task, escalation: Escalation | None) -> str | None:
    """Return the queue that a failed attempt's release writes to the task; `None` to leave it.

    The attempt that failed is counted already.
    """
    if escalation is None or task.attempt < escalation.after:
        return None
    return None if group_of_task(task) == escalation.to else group_of_tier(escalation.to)
