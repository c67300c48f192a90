"""A page of the list of jobs. Its models have a module of their own, which is quick to import."""

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
