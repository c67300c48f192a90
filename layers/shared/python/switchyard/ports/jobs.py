"""Where jobs are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job, JobPicture
from switchyard.domain.jobs.plan import JobPlan
from switchyard.domain.states import JobState

WRITING_SECONDS: Final = 20.0  # whoever asked waits for 30, and is to hear of it


@dataclass(frozen=True, slots=True)
class PageOfJobs:
    jobs: tuple[Job, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class JobIntake(Protocol):
    """Takes in new jobs: a small one at once, a large one accepted first and written in parts.

    A submission is known by the job's id and `created_at_ms`: whoever repeats a step of the same
    one changes nothing, however far it has come since. Raise `Conflict` when it is another's,
    `Unavailable` when the store takes no more after so many seconds: what it took stays.
    """

    def write(self, plan: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:
        """Store everything of a job that is still WRITING. Nothing of it can run yet."""

    def accept(self, job: Job) -> None:
        """Store a WRITING job alone; its `document_key` says where the rest is."""

    def write_part(self, part: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:
        """Store these items of a job that was accepted. What is there stays as it is."""

    def note_written(self, job: Job, written: int) -> Job:
        """Remember how many of its items are stored, unless it is known of more, or it is open.

        Return the job as it is. Raise `UnknownJob`.
        """

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        """The commit point: WRITING becomes OPEN and `__start__` is settled, in one write.

        From then on the job is listed.
        """


class JobStore(Protocol):
    """Remembers jobs. Every read is consistent, except `page`, which lists."""

    def find(self, ref: JobRef) -> Job | None: ...

    def find_many(self, refs: Sequence[JobRef]) -> Sequence[Job]:
        """Return those that exist, in no order."""

    def picture(self, ref: JobRef) -> JobPicture:
        """The job with all its tasks. Raise `UnknownJob`."""

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        """Newest first. Raise `Rejected` for a cursor that is not one of ours."""

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        """Remember the first failure of this run; return the job with whichever was first."""

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        """OPEN becomes `state`; if this run was settled already, return the job as it is."""
