"""The progress of the cancellation of a job."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from switchyard.domain.ids import FAN_PREFIX, START
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.cancellation import CancelDecision, Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.readiness import settled_by_following
from switchyard.domain.tasks.task import Task


class Pass(StrEnum):
    """A cancellation goes through a job two or three times, in the order of the task ids."""

    FIRST = "first"
    """Settles what a worker could take, and flags what runs. Nothing else was met so far."""
    QUEUED = "queued"
    """Goes on with that after tasks that wait were met: they come in the next pass. An earlier
    version, which flagged nothing in its first pass, begins with this one."""
    ALL = "all"
    """Settles or flags every task, so that nothing is left when it is over."""
    EVENTS = "events"
    """Emits the events of what was settled, after the job has settled: thousands of events keep
    other functions busy, and the end of the job does not wait for them."""


@dataclass(frozen=True, slots=True)
class CancelCursor:
    """The place of a cancellation: this pass visited the tasks up to `after`, earlier ones all."""

    step: Pass = Pass.FIRST
    after: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> "CancelCursor":
        """Start from the beginning where the text is missing or of another version: a task that
        was visited before is left as it is.
        """
        step, _, after = (text or "").partition("#")
        return cls(Pass(step), after or None) if step in set(Pass) else cls()

    def __str__(self) -> str:
        return f"{self.step}#{self.after or ''}"

    def wants(self, task: Task) -> bool:
        """Whether something has to be done about the task in this pass.

        `__start__` stays due until the event of the job's creation was emitted, which is not done
        here.
        """
        if self.step is Pass.EVENTS:
            return settled_by_following(task) and task.ref.task_id != START
        decision = _decision(task)
        if isinstance(decision, Flag):
            return self.step is Pass.ALL or task.state is TaskState.PROCESSING
        return isinstance(decision, Settle)

    def beyond(self, page: Sequence[Task], *, missed: bool = False) -> "CancelCursor | None":
        """Return the place after these tasks; without any, the pass that settles all after one that
        left some. `None` when a pass is over that the next one does not follow.

        `missed` says that some of them changed faster than they could be visited.
        """
        if not page:
            return CancelCursor(Pass.ALL) if self.step is Pass.QUEUED else None
        leaves_some = missed or any(map(self._leaves, page))
        step = Pass.QUEUED if self.step is Pass.FIRST and leaves_some else self.step
        return CancelCursor(step, page[-1].ref.task_id)

    def _leaves(self, task: Task) -> bool:
        return isinstance(_decision(task), Flag) and not self.wants(task)


def _decision(task: Task) -> CancelDecision:
    """Leave items of a fan-out that none may run of yet: they never will, unless it is redriven."""
    unopened = task.state is TaskState.WAITING and any(
        token.startswith(FAN_PREFIX) for token in task.waiting_on
    )
    return Leave("its fan-out is not expanded") if unopened else decide_cancel(task)
