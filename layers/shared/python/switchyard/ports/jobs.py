"""Ports that store jobs, and submit, extend, cancel and redrive them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from switchyard.domain.jobs.submission_keys import KeyKind

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.ids import JobRef
    from switchyard.domain.jobs.chunks import Chunk, ChunkContext
    from switchyard.domain.jobs.job import Job, JobPicture, JobStates
    from switchyard.domain.jobs.plan import JobPlan, Pinned
    from switchyard.domain.jobs.redrive import RedrivePlan, Reopening
    from switchyard.domain.states import JobState
    from switchyard.domain.tasks.task import Payload, Task


WRITING_SECONDS: Final = 20.0  # the caller waits for 30, and must get an answer


@dataclass(frozen=True, slots=True)
class PageOfJobs:
    jobs: tuple[Job, ...]
    cursor: str | None
    """The place where the next page begins; `None` on the last page."""


class JobIntake(Protocol):
    """Takes in new jobs: a small one at once, a large one accepted first and written in parts.

    A submission is known by the job's id and `created_at_ms`: a caller that repeats a step of the
    same one changes nothing, however far it has come since. Raise `Conflict` when it is another's,
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

    def states(self, ref: JobRef) -> JobStates:
        """The job with the state of each task, and no more of them. Raise `UnknownJob`."""

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        """Return jobs, newest first. Raise `Rejected` for a cursor that is not one of ours."""

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        """Remember the first failure of this run; return the job with whichever was first."""

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        """OPEN becomes `state`; if this run was settled already, return the job as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTaken:
    """A key that an earlier submission has taken, with its content."""

    job_id: str
    body_hash: str
    created_at_ms: int
    pinned: Mapping[str, Pinned] | None = None
    """The job's definitions, unless they are too many to remember."""
    trace: str | None = None
    """The `traceparent` it came with, if any."""


class SubmissionKeys(Protocol):
    def find(
        self, tenant: str, key: str, *, now_ms: int, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken | None:
        """Return the job that the key stands for, if it still does."""

    def take(
        self, tenant: str, key: str, taken: KeyTaken, *, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken:
        """Let the key stand for this job, unless it stands for another: return the one it does.

        As long as its kind lives; then it may be taken again. To take it again for the same
        job changes nothing. Raise `AnswerLost` when that is unknown: a repeated request finds out.
        """

    def take_over(
        self, tenant: str, key: str, taken: KeyTaken, *, instead_of: str, kind: KeyKind
    ) -> KeyTaken:
        """Let the key stand for another job than it does, unless something of that one may run:
        return the one it stands for.

        In the same write the old job becomes one that no function can write or open any more, even
        if it has begun. Raise `AnswerLost` as `take`.
        """


class TaskAdditions(Protocol):
    def chunk_context(self, ref: JobRef, names: Collection[str]) -> ChunkContext:
        """The job, its `__end__`, and those of `names` that are tasks of it, read consistently.

        Raise `UnknownJob`.
        """

    def add(self, chunk: Chunk) -> bool:
        """Write the whole chunk at once; return `False` if something is not as it was read.

        To add the same chunk again is answered as if it were the first time. So a lost answer does
        no harm; `AnswerLost` says that it is unknown, and that asking again is safe.
        """


class Cancelling(Protocol):
    """Cancels jobs. Each write is conditional, and repeating it changes nothing."""

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        """OPEN becomes CANCELLING, due and without a cursor.

        A job that is being cancelled is returned as it is.

        `by` is a person, where one is known, and remembered until the job is redriven.

        `None` if it is not as read, or is being redriven.
        """

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        """Write what `decide_cancel` decides, on state and fence as read; `None` if it changed.

        A lost answer is read back: `AnswerLost` says that the result is still unknown.
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


class Redriving(Protocol):
    """The steps of a redrive, in order. Each may be done again by anybody without harm: whatever
    it finds in another run than the plan says has been done."""

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        """The dependents of every task, also of hidden ones, read consistently."""

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        """A settled job becomes REDRIVING, due, with its plan at `key`; `False` if not as read.

        Beginning again with the same plan changes nothing. `AnswerLost`: the result is unknown.
        """

    def prepare(self, ref: JobRef, plan: RedrivePlan, name: str) -> None:
        """The new edges of the one of that `name`, before anything waits for it.

        If it is one of the plan's relays, it is new itself.
        """

    def reopen(
        self, ref: JobRef, reopening: Reopening, *, given: Payload | None = None, now_ms: int
    ) -> Task | None:
        """The task in its next run, with the input that it is `given`, and without an output.

        If it is in that run already, as it is now; `None` if it is in any other.
        """

    def note(self, job: Job, *, written: int) -> None:
        """Remember how much of the plan is done, so that the next step continues there."""

    def open(self, job: Job, *, now_ms: int, fewer_tasks: int = 0) -> Job | None:
        """REDRIVING becomes OPEN, in its next run, without the items that are to be made anew.

        `None` if this redrive is no longer at that.
        """

    def end(self, job: Job, *, now_ms: int) -> bool:
        """Forget the plan: nothing is left to do. `False` if the job is not as read."""
