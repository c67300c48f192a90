"""How many tasks a tenant's unsettled jobs have together, and whether there is room for more."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState

BEING_SUBMITTED_MS: Final = 15 * 60_000
"""For how long a job may be counted that is not stored yet: a submission takes at most 30 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJob:
    """One job as it is counted."""

    ref: JobRef
    run: int
    tasks: int
    since_ms: int


def open_with(counted: Iterable[OpenJob], ref: JobRef, tasks: int) -> int:
    """Return how many tasks are open if the job has so many, whatever it is counted with."""
    return tasks + sum(job.tasks for job in counted if job.ref != ref)


def room_problems(total: int, *, most: int) -> list[Problem]:
    if total <= most:
        return []
    message = (
        f"would make {total:,} open tasks; this stage allows at most {most:,} per tenant: wait"
        " until jobs have settled, or cancel some"
    )
    return [Problem(("tasks",), message)]


def is_left_over(counted: OpenJob, job: Job | None, *, now_ms: int) -> bool:
    """Whether a job is counted though nothing of it is open: something ended on the way."""
    if job is None:
        return now_ms - counted.since_ms > BEING_SUBMITTED_MS
    if job.state is JobState.WRITING:
        return job.due_at_ms is None  # it was abandoned
    return job.state.settled and counted.run <= job.run
