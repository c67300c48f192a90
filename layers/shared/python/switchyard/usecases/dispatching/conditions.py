"""Judges the conditions of tasks by what their parents made."""

from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.ids import in_scope
from switchyard.domain.jobs.condition_parser import parse_condition
from switchyard.domain.jobs.condition_reasons import shortened
from switchyard.domain.jobs.conditions import CannotBeJudged, DoesNotHold, Holds, evaluate
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Task
from switchyard.ports import Payloads

MAX_BYTES: Final = 1_000_000
"""The most bytes that the outputs which a condition names may have together."""
CATEGORY: Final = "condition"
"""The category of the failure of a task whose condition cannot be judged."""


class Conditions:
    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads

    def judge(self, task: Task) -> Readiness:
        """Return what becomes of a task whose rule holds, by its condition."""
        payload = self._payloads.read(task.ref)
        text = payload.when
        if text is None:
            return Readiness(TaskState.READY, f"{task.rule.value} holds")
        try:
            condition = parse_condition(text)
            wanted = {in_scope(payload.scope, name): name for name in sorted(condition.task_ids)}
            found = self._payloads.outputs(task.ref.job, list(wanted), max_bytes=MAX_BYTES)
            outputs = {wanted[name]: value for name, value in found.items()}
        except Rejected as problem:
            return _failed(f"the condition {shortened(text)} cannot be judged: {problem}")
        match evaluate(condition, outputs):
            case Holds(reason):
                return Readiness(TaskState.READY, reason)
            case DoesNotHold(reason):
                return Readiness(TaskState.SKIPPED, reason)
            case CannotBeJudged(reason):
                return _failed(reason)


def _failed(reason: str) -> Readiness:
    return Readiness(TaskState.FAILED, reason, CATEGORY)
