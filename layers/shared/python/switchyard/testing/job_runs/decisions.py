"""Scripts the decisions of people and the signals of programs in a test."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from switchyard.contracts.changes import DecideTask, SignalTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskKind
from switchyard.domain.tasks.task import Task
from switchyard.testing.job_runs.errors import JobTestError, unused_name
from switchyard.usecases.jobs.decide_task import TaskDecider


@dataclass(frozen=True, slots=True)
class DecisionMade:
    approved: bool
    details: Mapping[str, Any]


def approve(comment: str | None = None, **details: Any) -> DecisionMade:
    """Approve; `value=…` is the edited value, and `decided_by=…` the person."""
    return DecisionMade(approved=True, details={"comment": comment, **details})


def reject(comment: str | None = None, **details: Any) -> DecisionMade:
    """Reject; `details` as for `approve`."""
    return DecisionMade(approved=False, details={"comment": comment, **details})


_WORDS = {"approve": approve(), "reject": reject()}


class ScriptedPeople:
    """Decides and signals what a test says; anything else runs out of time."""

    def __init__(
        self, decider: TaskDecider, decisions: Mapping[str, Any], signals: Mapping[str, Any]
    ) -> None:
        self._decider = decider
        self._decisions = {name: _decision(name, said) for name, said in decisions.items()}
        self._signals = signals

    def require_used(self, kinds: Mapping[str, TaskKind | None]) -> None:
        """Raise `JobTestError` for a decision or a signal that no task of the job waits for."""
        _require("decisions", self._decisions, kinds, TaskKind.APPROVAL)
        _require("signals", self._signals, kinds, TaskKind.SIGNAL)

    def act_on(self, task: Task) -> bool:
        """End a held task if the test says how; return whether it does."""
        name = task.ref.task_id
        if task.kind is TaskKind.APPROVAL and name in self._decisions:
            self._decide(task.ref, self._decisions[name])
            return True
        if task.kind is TaskKind.SIGNAL and name in self._signals:
            self._decider.signal(task.ref, SignalTask(value=self._signals[name]), by="test")
            return True
        return False

    def _decide(self, ref: TaskRef, made: DecisionMade) -> None:
        details = {name: value for name, value in made.details.items() if value is not None}
        basis = self._decider.reader.view(ref).basis
        request = DecideTask(approved=made.approved, basis=basis, **details)
        self._decider.decide(ref, request, by="test")


def _decision(name: str, said: Any) -> DecisionMade:
    found = _WORDS.get(said, said) if isinstance(said, str) else said
    if not isinstance(found, DecisionMade):
        raise JobTestError(
            f"decisions[{name!r}] is {said!r}; write 'approve', 'reject', approve(…) or reject(…)"
        )
    return found


def _require(
    what: str, given: Mapping[str, Any], kinds: Mapping[str, TaskKind | None], kind: TaskKind
) -> None:
    known = [name for name, found in kinds.items() if found is kind]
    for name in given:
        if name not in known:
            raise unused_name(what, name, known)
