"""What every keeper of jobs promises."""

import pytest

from switchyard.domain.errors import Conflict, Rejected, UnknownJob
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.states import JobState, TaskState
from tests.builders import DIAMOND, JOB, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend


def a_job(number: int, tenant: str = TENANT) -> JobRef:
    return JobRef(tenant, f"job-00000000-0000-4000-8000-{number:012d}")


def test_a_written_job_is_read_back_whole(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    picture = backend.jobs.picture(JOB)
    assert picture.job == plan.job
    assert sorted(picture.tasks, key=lambda t: t.ref) == sorted(plan.tasks, key=lambda t: t.ref)
    depends_on = {name: sorted(parents) for name, parents in picture.depends_on.items()}
    assert depends_on.pop(END) == ["analyze-competitors", "compile-result"]
    assert depends_on == {name: sorted(parents) for name, parents in DIAMOND.items() if parents}
    assert backend.payloads.read(JOB.task("compile-result")).depends_on == (
        "color-tags",
        "font-pairing",
    )


def test_writing_a_job_again_undoes_nothing(backend: Backend) -> None:
    """A try that nobody waited for any more may arrive when the job is under way."""
    plan = a_plan()
    backend.intake.write(plan)
    moved = backend.graph.remove_edge(JOB.task("scrape-store"), f"{START}@1", completed=True)
    backend.intake.write(plan)
    assert backend.graph.find(moved.ref) == moved


def test_a_job_that_was_opened_is_not_written_again(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    with pytest.raises(Conflict):
        backend.intake.write(plan)


def test_opening_a_job_settles_its_start(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS + 3)
    job, start = backend.jobs.find(JOB), backend.graph.find(JOB.task(START))
    assert job is not None
    assert start is not None
    assert job.state is JobState.OPEN
    assert (start.state, start.settled_at_ms) == (TaskState.COMPLETED, NOW_MS + 3)
    assert start.due_at_ms is not None


def test_a_job_is_opened_once(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    with pytest.raises(Conflict):
        backend.intake.open(plan, now_ms=NOW_MS)


def test_an_unknown_job_and_another_tenants_job_look_the_same(backend: Backend) -> None:
    backend.intake.write(a_plan())
    assert backend.jobs.find(JobRef("other", JOB.job_id)) is None
    with pytest.raises(UnknownJob):
        backend.jobs.picture(JobRef("other", JOB.job_id))


def test_the_first_failure_is_kept(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    first = backend.jobs.note_failure(plan.job, task_id="color-tags", now_ms=NOW_MS + 1)
    second = backend.jobs.note_failure(plan.job, task_id="font-pairing", now_ms=NOW_MS + 2)
    assert first == second
    assert (first.failed_task_id, first.failure_detected_at_ms) == ("color-tags", NOW_MS + 1)


def test_a_job_is_settled_once(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    first = backend.jobs.settle(plan.job, JobState.COMPLETED, now_ms=NOW_MS + 1)
    second = backend.jobs.settle(plan.job, JobState.FAILED, now_ms=NOW_MS + 2)
    assert first == second
    assert (first.state, first.settled_at_ms) == (JobState.COMPLETED, NOW_MS + 1)
    assert first.due_at_ms is None


def test_jobs_are_listed_newest_first_page_by_page_and_by_tenant(backend: Backend) -> None:
    jobs = [*(a_job(number) for number in range(5)), a_job(9, tenant="acme-two")]
    for plan in [a_plan({"only": []}, job=job) for job in jobs]:
        backend.intake.write(plan)
        backend.intake.open(plan, now_ms=NOW_MS)
    seen, cursor = [], None
    for _ in range(3):
        page = backend.jobs.page(TENANT, limit=2, cursor=cursor)
        seen += [job.ref for job in page.jobs]
        cursor = page.cursor
    assert seen == [a_job(number) for number in (4, 3, 2, 1, 0)]
    assert cursor is None


def test_a_job_is_listed_once_it_is_open(backend: Backend) -> None:
    backend.intake.write(a_plan())
    assert backend.jobs.page(TENANT, limit=2, cursor=None).jobs == ()


def test_a_made_up_cursor_is_refused(backend: Backend) -> None:
    with pytest.raises(Rejected, match="cursor"):
        backend.jobs.page(TENANT, limit=2, cursor="made-up")
