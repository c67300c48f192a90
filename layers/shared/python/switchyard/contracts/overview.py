"""The lists of jobs and of approvals, and the health of the API: what `switchyard jobs` reads.

They are apart from the other models so that a listing imports few of them.
"""

from datetime import datetime

from pydantic import Field

from switchyard.contracts.wire import Written


class JobSummary(Written):
    job_id: str
    name: str
    status: str
    total_tasks: int
    created_at: datetime
    completed_at: datetime | None = None
    tags: dict[str, str] = Field(default_factory=dict)


class JobPage(Written):
    jobs: tuple[JobSummary, ...]
    cursor: str | None = None


class HeldApproval(Written):
    """An approval that waits for a person."""

    job_id: str
    task_id: str
    request_id: str
    name: str
    """The job's."""
    question: str | None = None
    """The beginning of what the person is asked."""
    held_since: datetime | None = None
    held_until: datetime | None = None
    """When it ends by itself."""


class ApprovalPage(Written):
    approvals: tuple[HeldApproval, ...]
    cursor: str | None = None
    """Where to go on. A page may have few or none and a cursor: others were looked at."""


class Health(Written):
    status: str = "ok"
    stage: str
    version: str
    paused: bool = False
    """Whether the operators keep the workers from taking tasks; jobs are accepted all the same."""
