"""How jobs and tasks are cancelled."""

from typing import Protocol

from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks.task import Task


class Cancelling(Protocol):
    """Each method is one conditional write. Whoever asks again changes nothing."""

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        """OPEN becomes CANCELLING, due. A job that is being cancelled is returned as it is.

        `by` is a person, where one is known, and remembered until the job is redriven.

        `None` if it is not as read, or is being redriven.
        """

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        """What `decide_cancel` says of the task, on state and fence as read; `None` if it changed.

        A lost answer is read back: `AnswerLost` says that nobody knows.
        """

    def end(self, job: Job, *, now_ms: int) -> None:
        """CANCELLING becomes OPEN again; that it was cancelled stays known."""
