"""The states of tasks and jobs, and the words people see for them.

`UNKNOWN` is never written. A state that a newer version wrote is read as it: neither settled nor
claimable, so that whatever is decided about it is left to a version that knows it.
"""

from enum import StrEnum
from typing import Final


class TaskState(StrEnum):
    WAITING = "WAITING"
    READY = "READY"
    QUEUED = "QUEUED"
    PROCESSING = "PROCESSING"
    HELD = "HELD"
    """A person, a time or a signal ends it: no worker runs it."""
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    SKIPPED = "SKIPPED"
    CANCELLED = "CANCELLED"
    NOT_COMPLETED = "NOT_COMPLETED"
    """A relay's hidden outcome: one of those it stands for did not complete."""
    UNKNOWN = "UNKNOWN"

    @classmethod
    def _missing_(cls, value: object) -> "TaskState | None":
        return cls.UNKNOWN if isinstance(value, str) else None

    @property
    def settled(self) -> bool:
        return self in SETTLED

    @property
    def failure(self) -> bool:
        return self in FAILURES


SETTLED: Final = frozenset(
    {
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.TIMED_OUT,
        TaskState.SKIPPED,
        TaskState.CANCELLED,
        TaskState.NOT_COMPLETED,
    }
)
FAILURES: Final = frozenset({TaskState.FAILED, TaskState.TIMED_OUT})


class Rule(StrEnum):
    """The rules that decide whether a task whose parents have all settled may run."""

    ALL_COMPLETED = "all_completed"
    ALL_SETTLED = "all_settled"
    ANY_FAILED = "any_failed"
    ANY_COMPLETED = "any_completed"
    NONE_FAILED = "none_failed"


class TaskKind(StrEnum):
    """The kinds of tasks that no worker runs, by what ends them."""

    APPROVAL = "approval"
    """A person's decision."""
    WAIT = "wait"
    """A moment in time."""
    SIGNAL = "signal"
    """A request of another program."""
    FAN_OUT = "fan_out"
    """The tasks that it makes, one for each item of a list."""
    JOB = "job"
    """The tasks that it makes, those of a template."""


class JobState(StrEnum):
    WRITING = "WRITING"
    OPEN = "OPEN"
    CANCELLING = "CANCELLING"
    REDRIVING = "REDRIVING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def _missing_(cls, value: object) -> "JobState | None":
        return cls.UNKNOWN if isinstance(value, str) else None

    @property
    def settled(self) -> bool:
        return self in {JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED}


class JobStatus(StrEnum):
    """A job's state, in the words that people see."""

    PROCESSING = "processing"
    PARTIAL_FAILURE = "partial_failure"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_TASK_WORDS: Final = {
    TaskState.WAITING: "waiting",
    TaskState.READY: "pending",
    TaskState.PROCESSING: "processing",
    TaskState.HELD: "held",
    TaskState.COMPLETED: "completed",
    TaskState.FAILED: "failed",
    TaskState.TIMED_OUT: "failed",
    TaskState.SKIPPED: "skipped",
    TaskState.CANCELLED: "cancelled",
    TaskState.UNKNOWN: "unknown",
}


def task_status(state: TaskState, *, attempt: int) -> str:
    if state is TaskState.QUEUED:
        return "retrying" if attempt else "pending"
    return _TASK_WORDS[state]


def job_status(state: JobState, *, failure_detected: bool) -> JobStatus:
    if state.settled:
        return JobStatus(state.value.lower())
    of_this_run = failure_detected and state is not JobState.REDRIVING
    return JobStatus.PARTIAL_FAILURE if of_this_run else JobStatus.PROCESSING
