"""What the reference knows of conditions, and of tasks that people, programs or time end.

It shares nothing with the scheduler but the names of states and kinds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from switchyard.domain.states import TaskKind, TaskState

YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Held:
    """A task that no worker runs, and what people and programs will answer."""

    kind: TaskKind
    seconds: int | None = None
    """After which it ends by itself, if it does."""
    on_timeout: str = "fail"
    on_reject: str = "complete"
    answers: tuple[str, ...] = ()
    """All that are given, each by somebody else; the first one counts."""
    by_event: bool = False
    """Whether a signal is sent by an event of the bus."""

    def problem_with(self, decision: str | None) -> str | None:
        """Say what is wrong with the decision that is said to have ended it."""
        if decision is None:
            return None if self.seconds else "ended by time, though it has as long as it wants"
        given = decision.partition(".")[0]
        return None if given in self.answers else f"ended by {decision}, which nobody said"

    def approved(self, decision: str | None) -> bool:
        return self.on_timeout == "approve" if decision is None else decision.startswith(YES)

    def end(self, decision: str | None) -> TaskState:
        """Return how it ends by this decision, or by time."""
        if self.kind is TaskKind.WAIT:
            return TaskState.COMPLETED
        if decision is None and (self.kind is TaskKind.SIGNAL or self.on_timeout == "fail"):
            return TaskState.FAILED
        if self.kind is TaskKind.SIGNAL or self.approved(decision) or self.on_reject == "complete":
            return TaskState.COMPLETED
        return TaskState.FAILED


class Form(StrEnum):
    EXISTS = "exists ${{tasks.{}.output}}"
    IS_NULL = "${{tasks.{}.output}} == null"
    IS_THERE = "${{tasks.{}.output}} != null"
    APPROVED = "${{tasks.{}.output.approved}}"


@dataclass(frozen=True, slots=True)
class When:
    """A condition on the output of one parent; no task of ours returns null."""

    form: Form
    parent: str

    @property
    def text(self) -> str:
        return self.form.value.format(self.parent)

    def end(
        self, states: Mapping[str, TaskState], approved: Mapping[str, bool]
    ) -> TaskState | None:
        """Return how the task ends without having run; `None` if it runs."""
        if states[self.parent] is not TaskState.COMPLETED:
            return TaskState.SKIPPED if self.form is Form.EXISTS else TaskState.FAILED
        asks = self.form is Form.APPROVED
        holds = approved[self.parent] if asks else self.form is not Form.IS_NULL
        return None if holds else TaskState.SKIPPED
