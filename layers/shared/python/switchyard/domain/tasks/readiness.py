"""What becomes of a task when everything it waited for has settled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.domain.ids import END
from switchyard.domain.states import Rule, TaskState
from switchyard.domain.tasks.shortfall import Shortfall
from switchyard.domain.tasks.task import Outcome, Task

FAILURE: Final = "failure"
"""The category of a relay's outcome when one of those it stands for failed or timed out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    state: TaskState
    reason: str
    category: str | None = None

    @property
    def outcome(self) -> Outcome:
        return Outcome(state=self.state, error=self.reason, error_category=self.category)


def decide_readiness(
    task: Task, parents: Mapping[str, Task], *, job_cancelled: bool = False
) -> Verdict:
    """`parents` has those in `task.not_completed`; the others completed.

    A task of a job that is being cancelled is treated as flagged, also before it is visited.
    """
    if task.ref.task_id == END:
        return Verdict(TaskState.COMPLETED, "every sink has settled")
    if task.ref.relay:
        return _passed_on(task, parents)
    if task.cancel_requested or job_cancelled:
        return Verdict(TaskState.CANCELLED, "cancellation was requested")
    if _may_run(task, parents.values()):
        return Verdict(TaskState.READY, f"{task.rule.value} holds")
    if task.rule is Rule.ANY_FAILED:
        return Verdict(TaskState.SKIPPED, "no parent failed")
    return Verdict(TaskState.SKIPPED, str(_shortfall(task, parents)))


def _passed_on(relay: Task, parents: Mapping[str, Task]) -> Verdict:
    if not relay.not_completed:
        return Verdict(TaskState.COMPLETED, "everything it stands for completed")
    category = FAILURE if any(map(_failed, parents.values())) else None
    return Verdict(TaskState.NOT_COMPLETED, str(_shortfall(relay, parents)), category)


def _may_run(task: Task, parents: Iterable[Task]) -> bool:
    match task.rule:
        case Rule.ALL_COMPLETED:
            return not task.not_completed
        case Rule.ALL_SETTLED:
            return True
        case Rule.ANY_FAILED:
            return any(map(_failed, parents))


def _failed(parent: Task) -> bool:
    behind = parent.outcome.error_category if parent.ref.relay and parent.outcome else None
    return parent.state.failure or behind == FAILURE


def _shortfall(task: Task, parents: Mapping[str, Task]) -> Shortfall:
    """Who did not complete; a relay among them says who that is behind it."""
    relays = [parent for parent in parents.values() if parent.ref.relay]
    direct = task.not_completed - {relay.ref.task_id for relay in relays}
    told = [Shortfall.read(relay.outcome.error or "") for relay in relays if relay.outcome]
    return Shortfall.of(direct, told)
