"""What the sweeper looks at."""

from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class PageOfOverdue:
    refs: tuple[TaskRef | JobRef, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class Overdue(Protocol):
    """Finds what is unsettled or undispatched and past its due time.

    A page may lag behind: whoever acts on it reads the thing consistently first.
    """

    def page(self, shard: int, *, now_ms: int, limit: int, cursor: str | None) -> PageOfOverdue:
        """What is due by `now_ms` in one of the `DUE_SHARDS`, longest overdue first."""

    def move_due(self, overdue: Task | Job, due_at_ms: int, *, count: bool = False) -> bool:
        """Put the due time off and `count` it in `resends`; `False` if it is not as read."""

    def abandon(self, job: Job) -> bool:
        """Forget the due time of a job that is still WRITING; `False` if it is not as read.

        A submission that goes on after all can still open the job, which gives it a new one.
        """
