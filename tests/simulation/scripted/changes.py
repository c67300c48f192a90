"""What people ask of jobs under way, at whatever moment."""

import random
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from switchyard.domain.states import TaskState
from tests.simulation.reference import AGAIN, Declared
from tests.simulation.scripted.shapes import following

REDRIVABLE: Final = frozenset(
    {TaskState.FAILED, TaskState.TIMED_OUT, TaskState.SKIPPED, TaskState.CANCELLED}
)
MOST_ADDED: Final = (3, 3, 10, 60)
RUN_AGAIN: Final = 0.4


class Change(StrEnum):
    ADD = "add"
    CANCEL_TASK = "cancel a task"
    CANCEL_JOB = "cancel the job"
    REDRIVE = "redrive"


CHANGES: Final = tuple(Change)


def newcomers(dice: random.Random, known: Sequence[str], *, number: int) -> list[Declared]:
    """Return tasks that follow some of those `known` and some of each other."""
    tasks: list[Declared] = []
    for place in range(dice.randint(1, dice.choice(MOST_ADDED))):
        before = [*known, *(task.task_id for task in tasks)]
        tasks.append(following(dice, f"a{number}-{place}", before))
    return tasks


def selection(dice: random.Random, states: dict[str, TaskState]) -> frozenset[str]:
    """Some of those that may be redriven, or none by name; sometimes, any to run from there on."""
    there = sorted(name for name in states if not _has_left(name, states))
    if there and dice.random() < RUN_AGAIN:
        return frozenset(f"{AGAIN}{name}" for name in dice.sample(there, min(len(there), 2)))
    may_be = [name for name in there if states[name] in REDRIVABLE]
    return frozenset(dice.sample(may_be, dice.randint(0, min(3, len(may_be)))))


def _has_left(name: str, states: dict[str, TaskState]) -> bool:
    """Whether it is an item that its list has no more: no other item is skipped."""
    return "[" in name and states[name] is TaskState.SKIPPED
