"""What becomes of a task when everything it waited for has settled."""

from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.domain.ids import END
from switchyard.domain.states import Rule, TaskState
from switchyard.domain.task import Task


@dataclass(frozen=True, slots=True)
class Verdict:
    state: TaskState
    reason: str


def decide_readiness(task: Task, parents: Mapping[str, TaskState]) -> Verdict:
    """`parents` names the states of those in `task.not_completed`; the others completed."""
    if task.ref.task_id == END:
        return Verdict(TaskState.COMPLETED, "every sink has settled")
    if task.cancel_requested:
        return Verdict(TaskState.CANCELLED, "cancellation was requested")
    if _may_run(task.rule, parents):
        return Verdict(TaskState.READY, f"{task.rule.value} holds")
    if task.rule is Rule.ANY_FAILED:
        return Verdict(TaskState.SKIPPED, "no parent failed")
    return Verdict(TaskState.SKIPPED, f"did not complete: {', '.join(sorted(parents))}")


def _may_run(rule: Rule, parents: Mapping[str, TaskState]) -> bool:
    match rule:
        case Rule.ALL_COMPLETED:
            return not parents
        case Rule.ALL_SETTLED:
            return True
        case Rule.ANY_FAILED:
            return any(state.failure for state in parents.values())
