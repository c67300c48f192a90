"""A job as its item has it, what it is in the middle of, and a whole job as one read returns it."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from switchyard.domain.errors import NewerVersion
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.cancel_cursor import CancelCursor, Pass
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.states import JobState, JobStatus, TaskKind, TaskState, job_status
from switchyard.domain.tasks.task import Tags, Task


def decide_job_outcome(states: Collection[TaskState]) -> JobState:
    """Raise `NewerVersion` if a task ended in a way that only a newer version knows."""
    if TaskState.UNKNOWN in states:
        raise NewerVersion("one of its tasks is in a state of a newer version")
    if TaskState.CANCELLED in states:
        return JobState.CANCELLED
    if any(state.failure for state in states):
        return JobState.FAILED
    return JobState.COMPLETED


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    ref: JobRef
    name: str
    state: JobState
    total_tasks: int
    created_at_ms: int
    run: int = 1
    reopened_at_ms: int | None = None
    """The start of the job's run, if that is not its first."""
    settled_at_ms: int | None = None
    failure_detected_at_ms: int | None = None
    failed_task_id: str | None = None
    tags: Tags = field(default_factory=dict)
    notify: NotifyTarget | None = None
    """The channel or webhook of the job's failures. A listing does not include it."""
    trace: str | None = None
    """The `traceparent` it was submitted with, if any. A listing does not know it."""
    due_at_ms: int | None = None
    cancel_requested: bool = False
    cancelled_by: str | None = None
    """A person, where one is known."""
    cancel_cursor: str | None = None
    """The progress of a cancellation, as a `CancelCursor` in text; `None` when it is over."""
    additions: int = 0
    """The number of additions: each chunk of tasks is one."""
    document_key: str | None = None
    """The bucket key of the plan of a job that is too large to be written while it is accepted."""
    written: int = 0
    """The number of items of that plan that have been written so far."""
    file_count: int | None = None
    """The number of files it was submitted with, if any; a document in the bucket names them."""
    queue: str | None = None
    """The work queue of its tasks, unless they name one themselves."""
    priority: str | None = None
    """The class of its tasks, likewise."""
    redrive_key: str | None = None
    """The bucket key of the plan of a redrive that is not over."""

    @property
    def status(self) -> JobStatus:
        return job_status(self.state, failure_detected=self.failure_detected_at_ms is not None)

    @property
    def being_cancelled(self) -> bool:
        """Whether none of its tasks may be started: until it settles, and is perhaps redriven."""
        return self.cancel_requested and self.state in {JobState.OPEN, JobState.CANCELLING}

    def cancels(self, task: Task) -> bool:
        """Whether the job's cancellation still settles the task, or emits the event of its end.

        It emits events when the job has settled. A task that was reopened since belongs to a
        redrive, and the job may have been read before that began: only a cancelled one counts.
        """
        emits = self.state is JobState.CANCELLED and self.cancel_cursor is not None
        return self.being_cancelled or (emits and task.state is TaskState.CANCELLED)

    def problem_with_run(self, run: int | None) -> str | None:
        """Return why a request that was made for that run is refused in this one."""
        if run is None or run == self.run:
            return None
        return f"that was run {run}; {self.ref.job_id} is in run {self.run} now"

    @property
    def listing_order(self) -> str:
        """Return the sort key of a tenant's jobs by age, which is also the cursor of a listing."""
        return f"{self.created_at_ms:013d}#{self.ref.job_id}"


@dataclass(frozen=True, slots=True)
class StateOfTask:
    ref: TaskRef
    run: int
    state: TaskState
    attempt: int
    child_count: int | None = None
    items_run: int | None = None
    kind: TaskKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStates:
    """A job and the states of all its tasks, hidden ones included."""

    job: Job
    tasks: tuple[StateOfTask, ...]

    @property
    def visible_tasks(self) -> tuple[StateOfTask, ...]:
        return _visible(self.tasks)

    @property
    def declared_tasks(self) -> tuple[StateOfTask, ...]:
        """Return all tasks that people declared. A fan-out stands for its items."""
        return tuple(task for task in self.visible_tasks if not task.ref.fan_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPicture:
    """A job with all its tasks. `depends_on` names what people declared, hidden tasks left out."""

    job: Job
    tasks: tuple[Task, ...]
    depends_on: Mapping[str, tuple[str, ...]]

    @property
    def visible_tasks(self) -> tuple[Task, ...]:
        return _visible(self.tasks)

    def follows(self) -> dict[str, tuple[str, ...]]:
        """Return whom each task follows; an item of a fan-out whom that follows."""
        fan_outs = {t.ref.task_id for t in self.tasks if t.kind is TaskKind.FAN_OUT}
        makers = {t.ref.task_id for t in self.tasks if t.fans_out}
        return {
            task.ref.task_id: self.depends_on.get(_as_declared(task.ref, makers, fan_outs), ())
            for task in self.tasks
        }


def _as_declared(ref: TaskRef, makers: Set[str], fan_outs: Set[str]) -> str:
    """Return the task that was declared, in a job or a template, for this one."""
    made_by = next((name for name in reversed(ref.makers) if name in makers), "")
    return made_by if made_by in fan_outs else ref.task_id


T = TypeVar("T", StateOfTask, Task)


def _visible(tasks: tuple[T, ...]) -> tuple[T, ...]:
    """Leave out hidden tasks, and those of a fan-out or a job that are not all written.

    So are those of an earlier list, or an earlier input, until they are replaced.
    """
    first_runs = {
        task.ref.task_id: None if task.child_count is None else task.items_run or 1
        for task in tasks
    }

    def is_made(task: StateOfTask | Task) -> bool:
        firsts = [first_runs[maker] for maker in task.ref.makers if maker in first_runs]
        return all(first is not None and task.run >= first for first in firsts)

    return tuple(task for task in tasks if not task.ref.hidden and is_made(task))


class NextStep(StrEnum):
    EXPAND = "expand"
    """The job is accepted, and its items are not all written."""
    CANCEL = "cancel"
    """Some tasks are still to be visited, or their events to be emitted."""
    REDRIVE = "redrive"
    """Some tasks are still to be opened again."""


def next_step(job: Job) -> NextStep | None:
    """`None` for a job that goes on by itself or is for a newer version to go on with, and for one
    whose submission never finished.
    """
    if job.state is JobState.UNKNOWN:
        return None
    if job.state is JobState.WRITING:
        return NextStep.EXPAND if job.document_key else None
    if job.state is JobState.CANCELLING:
        return NextStep.CANCEL
    if job.state is JobState.REDRIVING or job.redrive_key:
        return NextStep.REDRIVE
    if CancelCursor.parse(job.cancel_cursor).step is Pass.EVENTS:
        return NextStep.CANCEL
    return None
