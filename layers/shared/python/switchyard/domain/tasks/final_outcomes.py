"""How a task ends that nobody holds and nobody may claim any more."""

from typing import Final

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claims import Exhausted, Flagged
from switchyard.domain.tasks.task import Outcome, Task

EXHAUSTED: Final = "exhausted"


def exhausted(task: Task, decision: Exhausted, *, source: str = "worker") -> Outcome:
    error = f"{decision.reason}; the last worker stopped renewing its lease"
    if task.last_error:
        error += f"; before that: {task.last_error}"
    return Outcome(state=TaskState.FAILED, error=error, error_category=EXHAUSTED, source=source)


def cancelled(decision: Flagged) -> Outcome:
    return Outcome(state=TaskState.CANCELLED, error=decision.reason)
