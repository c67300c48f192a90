"""Gathers what went wrong before a task that may run though others failed.

Errors and reasons are of agents and programs: they are bounded, and given on as data.
"""

from collections.abc import Sequence
from typing import Any, Final

from switchyard.domain.ids import local_name
from switchyard.domain.states import Rule, TaskState, task_status
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import TaskLeases

MAX_PARENTS: Final = 20
MAX_READ: Final = 100
"""The most parents that are looked at: one read has no more."""
MAX_ERROR: Final = 500
MAX_MISSING: Final = 5


def failed_parents(task: Task, payload: Payload, leases: TaskLeases) -> list[dict[str, Any]]:
    """Return the parents that did not complete, and why; nothing where all of them had to.

    Raise `Unavailable`.
    """
    if task.ref.bare or task.rule is Rule.ALL_COMPLETED or not task.not_completed:
        return []
    refs = [task.ref.job.task(name) for name in payload.depends_on[:MAX_READ]]
    seen = leases.look_at(refs)
    parents = [seen[ref].task for ref in refs if ref in seen]
    return described([one for one in parents if one.state is not TaskState.COMPLETED])


def described(parents: Sequence[Task]) -> list[dict[str, Any]]:
    """Put the failures first: there is room for a few."""
    ordered = sorted(parents, key=lambda one: not one.state.failure)
    return [_described(one) for one in ordered[:MAX_PARENTS]]


def _described(parent: Task) -> dict[str, Any]:
    outcome, checked = parent.outcome, parent.commitments
    missing = checked.missing[:MAX_MISSING] if checked and parent.state.failure else ()
    about = {
        "task": local_name(parent.ref.task_id),
        "status": task_status(parent.state, attempt=parent.attempt),
        "errorCategory": outcome and outcome.error_category,
        "error": outcome and outcome.error and outcome.error[:MAX_ERROR],
        "attempts": parent.attempt,
        "missing": [{"name": one.name, "reason": one.reason} for one in missing],
    }
    return {name: value for name, value in about.items() if value}
