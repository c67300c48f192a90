"""Decides what a cancellation does to a task, whatever state it is in."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task

REASON: Final = "cancellation was requested"


@dataclass(frozen=True, slots=True)
class Settle:
    """The task ends at once, since no worker runs it."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The task ends when its worker, or the dispatcher, sees the flag."""

    reason: str


@dataclass(frozen=True, slots=True)
class Leave:
    reason: str


CancelDecision = Settle | Flag | Leave


def decide_cancel(task: Task) -> CancelDecision:
    """Decide; a waiting task is not ended at once: its job would end before running parents."""
    if task.ref.hidden:
        return Leave("nobody runs it")
    if task.state.settled:
        return Leave(f"{task.state.value.lower()} already")
    if task.state is TaskState.UNKNOWN:
        return Leave("in a state of a newer version")
    if task.state in {TaskState.READY, TaskState.QUEUED, TaskState.HELD}:
        return Settle(Outcome(state=TaskState.CANCELLED, error=REASON), "nobody runs it yet")
    if task.cancel_requested:
        return Leave("flagged already")
    return Flag(f"{task.state.value.lower()}")
