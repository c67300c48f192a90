"""The contract of `OpenTasks`."""

from switchyard.domain.access.limits import OpenJob
from switchyard.domain.ids import JobRef
from tests.builders import JOB, NOW_MS, TENANT
from tests.contract.conftest import Backend

OTHER = JobRef(TENANT, "job-00000000-0000-4000-8000-000000000002")


def counted(backend: Backend, tenant: str = TENANT) -> list[tuple[str, int, int]]:
    return [(job.ref.job_id, job.run, job.tasks) for job in backend.open_tasks.of_tenant(tenant)]


def note(backend: Backend, run: int, tasks: int, ref: JobRef = JOB) -> None:
    backend.open_tasks.note(ref, run=run, tasks=tasks, now_ms=NOW_MS)


def test_jobs_are_counted_by_tenant_in_the_order_of_their_ids(backend: Backend) -> None:
    note(backend, 1, 7, OTHER)
    note(backend, 1, 5)
    note(backend, 1, 9, JobRef("acme-inc", OTHER.job_id))
    assert counted(backend) == [(JOB.job_id, 1, 5), (OTHER.job_id, 1, 7)]
    assert counted(backend, "nobody") == []
    (only,) = backend.open_tasks.of_tenant("acme-inc")
    theirs = JobRef("acme-inc", OTHER.job_id)
    assert only == OpenJob(ref=theirs, run=1, tasks=9, since_ms=NOW_MS)


def test_a_job_is_counted_once_however_often_it_is_noted(backend: Backend) -> None:
    note(backend, 1, 5)
    backend.open_tasks.note(JOB, run=1, tasks=5, now_ms=NOW_MS + 1)
    (only,) = backend.open_tasks.of_tenant(TENANT)
    assert (only.tasks, only.since_ms) == (5, NOW_MS + 1)


def test_within_a_run_the_larger_number_counts(backend: Backend) -> None:
    note(backend, 1, 5)
    note(backend, 1, 8)
    note(backend, 1, 6)
    assert counted(backend) == [(JOB.job_id, 1, 8)]


def test_a_later_run_counts_whatever_arrives_of_an_earlier_one(backend: Backend) -> None:
    note(backend, 1, 8)
    note(backend, 2, 3)
    note(backend, 1, 9)
    assert counted(backend) == [(JOB.job_id, 2, 3)]


def test_a_closed_job_is_not_counted(backend: Backend) -> None:
    note(backend, 1, 5)
    note(backend, 1, 7, OTHER)
    for _ in range(2):
        backend.open_tasks.close(JOB, run=1)
    assert counted(backend) == [(OTHER.job_id, 1, 7)]


def test_the_end_of_an_earlier_run_closes_no_later_one(backend: Backend) -> None:
    note(backend, 2, 3)
    backend.open_tasks.close(JOB, run=1)
    assert counted(backend) == [(JOB.job_id, 2, 3)]
    backend.open_tasks.close(JOB, run=3)
    assert counted(backend) == []
