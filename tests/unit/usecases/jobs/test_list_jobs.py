"""Some of a tenant's jobs: pages as full as if there were no others."""

import json

import pytest

from switchyard.contracts.overview import JobPage
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.job_filters import JobFilter
from switchyard.domain.states import JobState, JobStatus
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs import list_jobs as listing
from switchyard.usecases.jobs.list_jobs import list_jobs
from tests.builders import NOW_MS, TENANT

LAMBDA_ANSWER_BYTES = 6 * 1024 * 1024
RARE = JobFilter(status=JobStatus.FAILED)
WEB = JobFilter(tag="team:web")


@pytest.fixture
def harness() -> MemoryHarness:
    """Thirty jobs; every third is of the web team, every tenth has failed."""
    harness = MemoryHarness(ManualClock())
    for number in range(30):
        ref = JobRef(TENANT, f"job-00000000-0000-4000-8000-{number:012d}")
        harness.state.jobs[ref] = Job(
            ref=ref,
            name=str(number),
            state=JobState.OPEN if number % 10 else JobState.FAILED,
            total_tasks=1,
            created_at_ms=NOW_MS + number,
            tags={"team": "ops" if number % 3 else "web"},
        )
    return harness


@pytest.fixture(autouse=True)
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "READ_AT_ONCE", 4)


def pages(harness: MemoryHarness, wanted: JobFilter, limit: int) -> list[JobPage]:
    found = [list_jobs(TENANT, wanted=wanted, limit=limit, cursor=None, jobs=harness.jobs)]
    while found[-1].cursor:
        cursor = found[-1].cursor
        found.append(
            list_jobs(TENANT, wanted=wanted, limit=limit, cursor=cursor, jobs=harness.jobs)
        )
    return found


def names(page: JobPage) -> list[str]:
    return [job.name for job in page.jobs]


def test_every_page_but_the_last_is_full(harness: MemoryHarness) -> None:
    assert [names(page) for page in pages(harness, WEB, 4)] == [
        ["27", "24", "21", "18"],
        ["15", "12", "9", "6"],
        ["3", "0"],
    ]


def test_a_last_page_that_is_full_promises_no_further_one(harness: MemoryHarness) -> None:
    assert [names(page) for page in pages(harness, RARE, 3)] == [["20", "10", "0"]]


def test_filters_are_joined(harness: MemoryHarness) -> None:
    both = JobFilter(status=JobStatus.FAILED, tag="team:web")
    assert [names(page) for page in pages(harness, both, 5)] == [["0"]]


def test_without_a_filter_the_pages_are_those_of_the_listing(harness: MemoryHarness) -> None:
    assert [len(page.jobs) for page in pages(harness, JobFilter(), 20)] == [20, 10]


def test_a_long_way_is_made_in_several_requests(
    harness: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 12)
    found = pages(harness, RARE, 2)
    assert [names(page) for page in found] == [["20"], ["10"], ["0"]]


def test_a_page_of_filtered_jobs_is_no_larger_than_an_answer() -> None:
    harness, long = MemoryHarness(ManualClock()), "\U0001f600" * 124
    for number in range(120):
        ref = JobRef(TENANT, f"job-00000000-0000-4000-8000-{number:012d}")
        harness.state.jobs[ref] = Job(
            ref=ref,
            name=str(number),
            state=JobState.OPEN,
            total_tasks=1,
            created_at_ms=NOW_MS + number,
            tags={"team": "web"} | {f"{n:04}{long}": long for n in range(19)},
        )
    found = pages(harness, WEB, 100)
    assert [name for page in found for name in names(page)] == [str(n) for n in range(119, -1, -1)]
    for page in found:
        body = json.dumps(page.model_dump(mode="json", by_alias=True))
        assert len(json.dumps({"body": body})) <= LAMBDA_ANSWER_BYTES


def test_tags_are_compared_whole_and_shown(harness: MemoryHarness) -> None:
    odd = JobRef(TENANT, "job-00000000-0000-4000-8000-000000000099")
    harness.state.jobs[odd] = Job(
        ref=odd,
        name="odd",
        state=JobState.OPEN,
        total_tasks=1,
        created_at_ms=NOW_MS,
        tags={"a:b": "c", "team": "web-two"},
    )
    (page,) = pages(harness, JobFilter(tag="a:b:c"), 5)
    assert [job.tags for job in page.jobs] == [{"a:b": "c", "team": "web-two"}]
    assert "odd" not in names(pages(harness, WEB, 100)[0])


@pytest.mark.parametrize(
    ("state", "failed", "status"),
    [
        (JobState.OPEN, False, JobStatus.PROCESSING),
        (JobState.CANCELLING, False, JobStatus.PROCESSING),
        (JobState.OPEN, True, JobStatus.PARTIAL_FAILURE),
        (JobState.FAILED, True, JobStatus.FAILED),
        (JobState.CANCELLED, True, JobStatus.CANCELLED),
        (JobState.COMPLETED, False, JobStatus.COMPLETED),
    ],
)
def test_the_status_is_the_one_that_people_see(
    state: JobState, failed: bool, status: JobStatus
) -> None:
    job = Job(
        ref=JobRef(TENANT, "job-1"),
        name="job",
        state=state,
        total_tasks=1,
        created_at_ms=NOW_MS,
        failure_detected_at_ms=NOW_MS if failed else None,
    )
    assert [s for s in JobStatus if JobFilter(status=s).takes(job)] == [status]
