"""How far the cancellation of a job has come."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from switchyard.domain.ids import START
from switchyard.domain.tasks.cancellation import Flag, Settle, decide_cancel
from switchyard.domain.tasks.readiness import settled_by_following
from switchyard.domain.tasks.task import Task


class Pass(StrEnum):
    """A cancellation goes through a job three times, in the order of the task ids."""

    QUEUED = "queued"
    """Settles what a worker could take: no other task can be started meanwhile."""
    ALL = "all"
    """Settles or flags every task, so that nothing is left when it is over."""
    EVENTS = "events"
    """Emits the events of what was settled, after the job has settled: thousands of events keep
    other functions busy, and the end of the job does not wait for them."""


@dataclass(frozen=True, slots=True)
class CancelCursor:
    """Every task up to `after` was visited in this pass, and all of them in the one before."""

    step: Pass = Pass.QUEUED
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
        decision = decide_cancel(task)
        return isinstance(decision, Settle) or (
            self.step is Pass.ALL and isinstance(decision, Flag)
        )

    def beyond(self, page: Sequence[Task]) -> "CancelCursor | None":
        """Return the place after these tasks; without any, the pass that settles all after the one
        that settles what is queued. `None` when a pass is over that the next one does not follow.
        """
        if page:
            return CancelCursor(self.step, page[-1].ref.task_id)
        return CancelCursor(Pass.ALL) if self.step is Pass.QUEUED else None
