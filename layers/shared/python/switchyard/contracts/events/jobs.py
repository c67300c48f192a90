"""The events of a job."""

from typing import Any, ClassVar

from switchyard.contracts.events.properties import JobProperties
from switchyard.contracts.wire import Written, unless_absent


class CreatedTask(Written):
    task_id: str
    name: str
    depends_on: tuple[str, ...] = ()
    input: Any = None
    queue: str | None = unless_absent()
    """The work queue, unless it is `default`."""
    priority: str | None = unless_absent()
    """The class, unless it is `normal`."""
    metadata: dict[str, str] | None = unless_absent()
    """What its producer wants to see beside it."""


class JobCreated(JobProperties):
    event_type: ClassVar[str] = "Job Created"

    request_id: str
    tasks: tuple[CreatedTask, ...]
    total_tasks: int


class JobTasksAdded(JobProperties):
    event_type: ClassVar[str] = "Job Tasks Added"

    chunk: int
    """The number of this addition to the job: each addition has an event of its own."""
    new_tasks: tuple[CreatedTask, ...]
    previous_total_tasks: int
    total_tasks_now: int

    @property
    def number(self) -> int:
        return self.chunk


class JobFailureDetected(JobProperties):
    event_type: ClassVar[str] = "Job Failure Detected"

    failed_task_id: str
    task_statuses: dict[str, str]


class JobSettled(JobProperties):
    started_at: int | None = None
    """The start of this run: the job's creation, or its redrive. Older events do not have it."""
    total_tasks: int
    task_statuses: dict[str, str]


class JobCompleted(JobSettled):
    event_type: ClassVar[str] = "Job Completed"


class JobFailed(JobSettled):
    event_type: ClassVar[str] = "Job Failed"


class JobCancelled(JobSettled):
    event_type: ClassVar[str] = "Job Cancelled"

    requested_by: str | None = None
    """A person, where one is known."""
