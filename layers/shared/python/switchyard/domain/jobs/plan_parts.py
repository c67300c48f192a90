"""A plan in parts: a large job is written some items at a time, always in the same order."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from switchyard.domain.jobs.plan import JobPlan

V = TypeVar("V")


def items_in(plan: JobPlan) -> int:
    """Without the job's own."""
    return len(plan.tasks) + len(plan.dependents) + len(plan.payloads)


def part_of(plan: JobPlan, *, first: int, at_most: int) -> JobPlan:
    """As if the job had no other items than these: its tasks come first, then what they name."""
    of_tasks = len(plan.tasks)
    of_edges = of_tasks + len(plan.dependents)
    last = first + at_most
    return replace(
        plan,
        tasks=plan.tasks[first:last],
        dependents=_between(plan.dependents, first - of_tasks, last - of_tasks),
        payloads=_between(plan.payloads, first - of_edges, last - of_edges),
    )


def _between(named: Mapping[str, V], first: int, last: int) -> dict[str, V]:
    return dict(islice(named.items(), max(0, first), max(0, last)))
