"""Where jobs are kept."""

from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.job import Job, JobPicture
from switchyard.domain.plan import JobPlan
from switchyard.domain.states import JobState


@dataclass(frozen=True, slots=True)
class PageOfJobs:
    jobs: tuple[Job, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class JobIntake(Protocol):
    """Takes in new jobs."""

    def write(self, plan: JobPlan) -> None:
        """Store everything of a job that is still WRITING. Nothing of it can run yet.

        Whoever writes it again changes nothing. Raise `Conflict` when it is written no longer.
        """

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        """The commit point: WRITING becomes OPEN and `__start__` is settled, in one write.

        From then on the job is listed. Raise `Conflict` when it was opened already.
        """


class JobStore(Protocol):
    """Remembers jobs. Every read is consistent, except `page`, which lists."""

    def find(self, ref: JobRef) -> Job | None: ...

    def picture(self, ref: JobRef) -> JobPicture:
        """The job with all its tasks. Raise `UnknownJob`."""

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        """Newest first. Raise `Rejected` for a cursor that is not one of ours."""

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        """Remember the first failure of this run; return the job with whichever was first."""

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        """OPEN becomes `state`; if this run was settled already, return the job as it is."""
