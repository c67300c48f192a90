"""The list of jobs and the health of the API: what `switchyard jobs` reads.

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


class Health(Written):
    status: str = "ok"
    stage: str
    version: str
    paused: bool = False
    """Whether the operators keep the workers from taking tasks; jobs are accepted all the same."""


class PoolServing(Written):
    """A pool of workers, as every tenant may know it: no figures of what others run there."""

    name: str
    kind: str
    groups: tuple[str, ...]
    """The groups of work queues that it serves now."""


class PoolList(Written):
    pools: tuple[PoolServing, ...]
    served: tuple[str, ...]
    """All groups that some pool serves; tasks of any other group wait."""
