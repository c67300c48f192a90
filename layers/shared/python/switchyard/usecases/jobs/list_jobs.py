"""Lists a tenant's jobs, newest first; a page of some of them is as full as one of all."""

from collections.abc import Iterator
from typing import Final

from switchyard.contracts.overview import JobPage, JobSummary
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.job_filters import JobFilter
from switchyard.ports import JobStore
from switchyard.usecases.jobs.read_jobs import MAX_ANSWER_BYTES, bytes_in_answer, job_summary

READ_AT_ONCE: Final = 200
MOST_LOOKED_AT: Final = 5_000  # in the time that one request has


def list_jobs(
    tenant: str, *, wanted: JobFilter, limit: int, cursor: str | None, jobs: JobStore
) -> JobPage:
    """A page that is not full is the last one, or the way to the next match was too long.

    Either way its cursor says whether, and from where, to go on.
    """
    if wanted.takes_all:
        page = jobs.page(tenant, limit=limit, cursor=cursor)
        return JobPage(jobs=tuple(map(job_summary, page.jobs)), cursor=page.cursor)
    return _filtered(listed_jobs(tenant, jobs=jobs, cursor=cursor), wanted, limit)


def listed_jobs(tenant: str, *, jobs: JobStore, cursor: str | None = None) -> Iterator[Job]:
    """Yield all jobs from the cursor on, read as they are asked for."""
    while True:
        page = jobs.page(tenant, limit=READ_AT_ONCE, cursor=cursor)
        yield from page.jobs
        cursor = page.cursor
        if cursor is None:
            return


def _filtered(listed: Iterator[Job], wanted: JobFilter, limit: int) -> JobPage:
    found: list[JobSummary] = []
    last: Job | None = None
    room = MAX_ANSWER_BYTES
    for looked_at, job in enumerate(listed):
        if looked_at == MOST_LOOKED_AT:
            return _page(found, ending_with=last)
        if wanted.takes(job):
            summary = job_summary(job)
            room -= bytes_in_answer(summary.model_dump(mode="json", by_alias=True)) + 1  # a comma
            if len(found) == limit or room < 0:
                return _page(found, ending_with=last)
            found.append(summary)
        last = job
    return _page(found, ending_with=None)


def _page(found: list[JobSummary], *, ending_with: Job | None) -> JobPage:
    cursor = ending_with.listing_order if ending_with else None
    return JobPage(jobs=tuple(found), cursor=cursor)
