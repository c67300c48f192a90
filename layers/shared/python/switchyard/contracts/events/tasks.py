"""The events of a task."""

from typing import Any, ClassVar

from switchyard.contracts.events.properties import TaskProperties
from switchyard.contracts.wire import Written


class UsageFigures(Written):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float = 0.0


class UnmetCommitment(Written):
    """A commitment that an attempt did not meet, and what was found instead."""

    name: str
    kind: str
    reason: str


class MemoryUsage(Written):
    rss: int
    """Bytes."""


class ReportedActivity(Written):
    """The activity that the child's output reported last."""

    type: str
    """A name such as `step_running`, `sdk_query` or `waiting`; a newer worker may know others."""
    step_name: str | None = None
    timestamp: int


class AttemptEnded(TaskProperties):
    """The attempt that the event ends, if there was one; older events do not have these fields."""

    started_at: int | None = None
    """The time at which the attempt was claimed."""
    attempt: int | None = None
    worker_id: str | None = None
    """The worker that had claimed the task, if it is not the sender."""


class TaskPending(TaskProperties):
    event_type: ClassVar[str] = "Task Pending"

    name: str
    depends_on: tuple[str, ...] | None = None


class TaskHeld(TaskProperties):
    """No worker runs the task: a person, a time or a signal ends it."""

    event_type: ClassVar[str] = "Task Held"

    kind: str
    """The kind: `approval`, `wait` or `signal`; a newer version may know others."""
    held_until: int
    question: str | None = None
    """The question to a person."""


class TaskExpanded(TaskProperties):
    """A fan-out has made its tasks, one for each item of its list."""

    event_type: ClassVar[str] = "Task Expanded"

    items: int


class TaskProcessingStarted(TaskProperties):
    event_type: ClassVar[str] = "Task Processing Started"

    name: str | None = None
    """The definition's; older events do not say it, here and in the others."""
    effective_until: int
    worker_id: str
    process_id: int


class TaskProcessingFailed(AttemptEnded):
    event_type: ClassVar[str] = "Task Processing Failed"

    name: str | None = None
    attempt_number: int
    error: str
    error_category: str
    duration_ms: int | None = None
    usage: UsageFigures | None = None
    """The usage; `None` if nothing was spent, or the amount is unknown."""
    unmet: tuple[UnmetCommitment, ...] | None = None
    """The commitments that were not met, if they are why it failed; likewise below."""


class TaskReleased(AttemptEnded):
    event_type: ClassVar[str] = "Task Released"

    reason: str
    not_before: int


class TaskCompleted(AttemptEnded):
    event_type: ClassVar[str] = "Task Completed"

    name: str | None = None
    output: Any = None
    duration_ms: int
    exit_code: int
    usage: UsageFigures
    kind: str | None = None
    """The kind of a held task, as in its Task Held event; likewise below."""
    decided_by: str | None = None
    """The person or program that ended a held task; `None` if its time was up."""
    verified: bool | None = None
    """Whether a worker found all its commitments met; `None` if it has none."""
    commitments_met: int | None = None
    """How many those are."""


class TaskFailed(AttemptEnded):
    event_type: ClassVar[str] = "Task Failed"

    name: str | None = None
    error: str
    error_category: str
    retry_count: int
    source: str
    """The source of the failure: `worker`, `dlq` or `dispatcher`."""
    kind: str | None = None
    decided_by: str | None = None
    """The person who rejected it."""
    duration_ms: int | None = None
    """The duration of the last attempt, if a worker saw its end."""
    usage: UsageFigures | None = None
    unmet: tuple[UnmetCommitment, ...] | None = None


class TaskTimeout(AttemptEnded):
    event_type: ClassVar[str] = "Task Timeout"

    name: str | None = None
    timeout_ms: int
    elapsed_ms: int
    signal: str
    """The signal: `SIGTERM` or `SIGKILL`."""
    usage: UsageFigures | None = None


class TaskSkipped(TaskProperties):
    event_type: ClassVar[str] = "Task Skipped"

    reason: str


class TaskCancelled(AttemptEnded):
    event_type: ClassVar[str] = "Task Cancelled"

    kind: str | None = None
    reason: str


class TaskHeartbeat(TaskProperties):
    event_type: ClassVar[str] = "Task Heartbeat"
    sparse: ClassVar[bool] = True

    effective_until: int
    heartbeat_number: int
    elapsed_ms: int
    worker_id: str
    process_id: int
    memory_usage: MemoryUsage
    last_activity: ReportedActivity | None = None

    @property
    def number(self) -> int:
        return self.heartbeat_number


class TaskRedriven(TaskProperties):
    """The task was reopened: `run` is its new one, `job_run` its job's."""

    event_type: ClassVar[str] = "Task Redriven"

    job_run: int
    previous_status: str
    requested_by: str | None = None
    """A person, where one is known."""
