"""How jobs and tasks are cancelled."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks.task import Task


class Cancelling(Protocol):
    """Each method that writes does so on conditions. Whoever asks again changes nothing."""

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        """OPEN becomes CANCELLING, due and without a cursor.

        A job that is being cancelled is returned as it is.

        `by` is a person, where one is known, and remembered until the job is redriven.

        `None` if it is not as read, or is being redriven.
        """

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        """What `decide_cancel` says of the task, on state and fence as read; `None` if it changed.

        A lost answer is read back: `AnswerLost` says that nobody knows.
        """

    def page(self, ref: JobRef, *, after: str | None, at_most: int) -> Sequence[Task]:
        """The tasks that come after this id in the order of their ids, read consistently.

        Perhaps fewer than asked for, and none only if no more follow.
        """

    def cancel_many(self, tasks: Sequence[Task], *, now_ms: int) -> Sequence[Task | None]:
        """Do what `cancel` does for each of these tasks of one job, in as few calls as possible.

        One answer each, in order. A task that changed keeps none of the others from being written.
        """

    def note_progress(self, job: Job, cursor: str) -> None:
        """Store how far the cancellation of this run has come, while the job is CANCELLING."""

    def end(self, job: Job, *, now_ms: int, cursor: str) -> None:
        """CANCELLING becomes OPEN again, with this cursor; that it was cancelled stays known."""

    def note_reported(self, job: Job, cursor: str | None) -> None:
        """Store whose events were emitted, after `end` and in this run; `None` when all were."""
