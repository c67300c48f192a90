"""How settled jobs are opened again."""

from collections.abc import Mapping
from typing import Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redriving import RedrivePlan, Reopening
from switchyard.domain.tasks.task import Payload, Task


class Redriving(Protocol):
    """The steps of a redrive, in order. Each may be done again by anybody without harm: whatever
    it finds in another run than the plan says has been done."""

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        """The dependents of every task, also of hidden ones, read consistently."""

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        """A settled job becomes REDRIVING, due, with its plan at `key`; `False` if not as read.

        Beginning again with the same plan changes nothing. `AnswerLost` says that nobody knows.
        """

    def prepare(self, ref: JobRef, plan: RedrivePlan, name: str) -> None:
        """The new edges of the one of that `name`, before anything waits for it.

        If it is one of the plan's relays, it is new itself.
        """

    def reopen(
        self, ref: JobRef, reopening: Reopening, *, given: Payload | None = None, now_ms: int
    ) -> Task | None:
        """The task in its next run, with the input that it is `given`.

        If it is in that run already, as it is now; `None` if it is in any other.
        """

    def note(self, job: Job, *, written: int) -> None:
        """Remember how much of the plan is done, so that whoever goes on begins there."""

    def open(self, job: Job, *, now_ms: int) -> Job | None:
        """REDRIVING becomes OPEN, in its next run; `None` if this redrive is no longer at that."""

    def end(self, job: Job, *, now_ms: int) -> bool:
        """Forget the plan: nothing is left to do. `False` if the job is not as read."""
