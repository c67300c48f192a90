"""Ports that store tasks, decide about them, and find overdue and unsettled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.commitments.results import CheckedCommitments
    from switchyard.domain.ids import JobRef, TaskRef
    from switchyard.domain.jobs.adoption import Adoption
    from switchyard.domain.jobs.job import Job
    from switchyard.domain.scheduling.choice import Why
    from switchyard.domain.states import TaskState
    from switchyard.domain.tasks.claim_refusals import ClaimRefusal
    from switchyard.domain.tasks.holds import Resolution
    from switchyard.domain.tasks.readiness import Readiness
    from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Payload, Task


@dataclass(frozen=True, slots=True)
class Claimed:
    task: Task
    lease: Lease
    why: Why | None = None
    """Why it was next, if a worker chose it among others."""


@dataclass(frozen=True, slots=True)
class ClaimRefused:
    """The reason why the lease was not taken, and the task as it was read."""

    task: Task
    decision: ClaimRefusal


@dataclass(frozen=True, slots=True)
class Seen:
    """A task as a look at it showed it, and whether the cancellation of its job sees to it."""

    task: Task
    job_cancelled: bool


class TaskLeases(Protocol):
    """Decides who runs a task. Each method is one conditional write on the control item.

    Asking again for what was done already is answered with the task as it is, and changes nothing.
    So an answer that was lost does no harm; `AnswerLost` says that the result is unknown,
    even after reading the task back.
    """

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        """Read tasks of any jobs, those that exist, consistently and in as few calls as possible.

        It takes no lease. A ref may be there twice."""

    def claim(
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),
    ) -> Claimed | ClaimRefused | None:
        """Take the lease, or say why not; `None` for a task that does not exist.

        `owner` stands for this one claim: while its lease runs, the same owner gets the same lease.
        A task takes a place of each of its limits until its lease ends; `limits` are a hint.
        """

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        """Keep the lease; return the task, which may be flagged. Raise `LeaseLost`.

        A renewal that arrives late never shortens what a later one was promised, and does not
        replace its `signs`. Without any, those of the one before stay; a claim begins without.
        """

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        """Store the outcome and all its event will contain. Raise `LeaseLost`.

        What was settled before in this state, under this lease, is returned as it was then.
        """

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
        checked: CheckedCommitments | None = None,
        queue: str | None = None,
    ) -> Task:
        """Hand the task back as QUEUED, with what its attempt `checked`, and in another queue if
        one is named. Raise `LeaseLost`.
        """

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        """Settle a task without an owner (exhausted, cancelled), on the fence as read.

        `None` if it is not as read, unless it was given up in the same way.
        """


class TaskAdoption(Protocol):
    """Takes in bare tasks: those of other producers' messages, which belong to no job."""

    def adopt(self, adoption: Adoption) -> bool:
        """Store the task with its input, in one write; `False` if there is one of that id.

        That one stays as it is. Adopting again after an outage does no harm.
        """


@dataclass(frozen=True, slots=True)
class TasksOfJob:
    """Some tasks of one job, and whether that job is being cancelled."""

    tasks: Mapping[str, Task]
    """The tasks that were found, by their ids."""
    job_cancelled: bool


class TaskGraph(Protocol):
    """A job's edges and the steps of its tasks before they run."""

    def find(self, ref: TaskRef) -> Task | None: ...

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        """Tasks of one job by task id, read consistently. No ref may be there twice."""

    def find_in_job(self, refs: Sequence[TaskRef]) -> TasksOfJob:
        """Find tasks like `find_many`, at least one, with what the same read says of their job."""

    def edges_from(self, refs: Sequence[TaskRef]) -> Mapping[str, tuple[str, ...]]:
        """Return the dependents of each task of one job, by task id, without empty ones.

        Read once a task has settled, it is all that waits for this run of it. No ref may be there
        twice.
        """

    def remove_edges(self, ref: TaskRef, tokens: Mapping[str, bool]) -> Task:
        """Take the tokens out of `waiting_on`, in one write; what is gone already stays as it is.

        A token is true if its parent completed; else that parent joins `not_completed`. Return the
        task as it is now. Raise `UnknownTask`.
        """

    def decide(self, task: Task, verdict: Readiness, *, now_ms: int) -> Task:
        """WAITING with nothing left becomes the verdict's state.

        Only if run and cancel flag are as read: the verdict looked at them. Return the task as it
        is now, decided or not. Raise `UnknownTask`.
        """

    def hold(self, task: Task, *, held_until_ms: int) -> None:
        """READY becomes HELD; nothing happens when the task changed since it was read."""

    def resolve(
        self, task: Task, resolution: Resolution, *, now_ms: int, decision: str | None = None
    ) -> Task | None:
        """End a held task and store what it made, in one write; `decision` is the request's id.

        Return `None` if it is not as read, unless the same request ended it in the same way.
        """

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        """READY becomes QUEUED; nothing happens when a worker was faster."""

    def clear_due(self, task: Task) -> None:
        """Forget the due time, unless the task changed since it was read."""

    def clear_due_of_many(self, tasks: Sequence[Task]) -> None:
        """Clear the due times of these tasks of one job, in as few calls as possible."""


class Payloads(Protocol):
    """Inputs and outputs of tasks, wherever they are stored."""

    def read(self, ref: TaskRef) -> Payload:
        """An empty payload for a task that has none."""

    def read_to_start(self, ref: TaskRef) -> Payload:
        """Read the payload before its task is started. Raise `MustNotStart` if it must not be."""

    def read_what_is_left(self, ref: TaskRef) -> Payload:
        """Read the payload without what has expired in the bucket, which forgets sooner."""

    def read_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Payload]:
        """Read the payloads of tasks of one job, by task id. No ref may be there twice."""

    def outputs(
        self, job: JobRef, task_ids: Sequence[str], *, max_bytes: int | None = None
    ) -> Mapping[str, Json]:
        """The outputs of those that completed, in the order asked for.

        Raise `TooMuch` once they have more bytes together, as JSON, without reading the others.
        """


@dataclass(frozen=True, slots=True)
class PageOfOverdue:
    refs: tuple[TaskRef | JobRef, ...]
    cursor: str | None
    """The place where the next page begins; `None` on the last page."""


class Overdue(Protocol):
    """Finds what is unsettled or undispatched and past its due time.

    A page may lag behind: callers read an item consistently before they act on it.
    """

    def page(self, shard: int, *, now_ms: int, limit: int, cursor: str | None) -> PageOfOverdue:
        """Return what is due by `now_ms` in one of the `DUE_SHARDS`, longest overdue first."""

    def move_due(self, overdue: Task | Job, due_at_ms: int, *, count: bool = False) -> bool:
        """Put the due time off and `count` it in `resends`; `False` if it is not as read."""

    def abandon(self, job: Job) -> bool:
        """Forget the due time of a job that is still WRITING; `False` if it is not as read.

        A submission that goes on after all can still open the job, which gives it a new one.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsettledTask:
    ref: TaskRef
    state: TaskState
    ready_at_ms: int | None
    started_at_ms: int | None


@dataclass(frozen=True, slots=True)
class PageOfUnsettled:
    tasks: tuple[UnsettledTask, ...]
    cursor: str | None
    """The place where the next page begins; `None` on the last page."""


class Unsettled(Protocol):
    """Lists every task with a due time: what may run, what runs, and what has settled but was not
    followed yet. It changes nothing and decides nothing.
    """

    def page(self, shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
        """Return tasks of one of the `DUE_SHARDS`, at most `limit`, or none though more follow.

        A page may lag behind: callers that need to be sure read the tasks.
        """

    def read(self, refs: Sequence[TaskRef]) -> tuple[Task, ...]:
        """The tasks as they are, of any jobs and in no order; those that are gone are left out.

        No ref may be there twice.
        """
