"""The events of a task."""

from typing import Any, ClassVar, Literal

from switchyard.contracts.events.properties import TaskProperties
from switchyard.contracts.wire import Wire


class UsageFigures(Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float = 0.0


class MemoryUsage(Wire):
    rss: int
    """Bytes."""


class LastActivity(Wire):
    """What the child's output last said it was doing."""

    type: Literal["step_running", "sdk_query", "waiting"]
    step_name: str | None = None
    timestamp: int


class TaskPending(TaskProperties):
    event_type: ClassVar[str] = "Task Pending"

    name: str
    depends_on: tuple[str, ...] | None = None


class TaskProcessingStarted(TaskProperties):
    event_type: ClassVar[str] = "Task Processing Started"

    effective_until: int
    worker_id: str
    process_id: int


class TaskProcessingFailed(TaskProperties):
    event_type: ClassVar[str] = "Task Processing Failed"

    attempt_number: int
    error: str
    error_category: str


class TaskReleased(TaskProperties):
    event_type: ClassVar[str] = "Task Released"

    reason: str
    not_before: int


class TaskCompleted(TaskProperties):
    event_type: ClassVar[str] = "Task Completed"

    output: Any = None
    duration_ms: int
    exit_code: int
    usage: UsageFigures


class TaskFailed(TaskProperties):
    event_type: ClassVar[str] = "Task Failed"

    error: str
    error_category: str
    retry_count: int
    source: Literal["worker", "dlq"]


class TaskTimeout(TaskProperties):
    event_type: ClassVar[str] = "Task Timeout"

    timeout_ms: int
    elapsed_ms: int
    signal: Literal["SIGTERM", "SIGKILL"]


class TaskSkipped(TaskProperties):
    event_type: ClassVar[str] = "Task Skipped"

    reason: str


class TaskCancelled(TaskProperties):
    event_type: ClassVar[str] = "Task Cancelled"

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
    last_activity: LastActivity | None = None

    @property
    def number(self) -> int:
        return self.heartbeat_number


class TaskRedriven(TaskProperties):
    """The task was reopened: `run` is its new one, `job_run` its job's."""

    event_type: ClassVar[str] = "Task Redriven"

    job_run: int
    previous_status: str
