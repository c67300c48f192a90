"""The contract of `JobStore`."""

from dataclasses import replace

import pytest

from switchyard.domain.errors import Rejected, UnknownJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.states import JobState, TaskKind
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
    assert depends_on == {name: sorted(parents) for name, parents in DIAMOND.items() if parents}
    assert backend.payloads.read(JOB.task("compile-result")).depends_on == (
        "color-tags",
        "font-pairing",
    )


GATE = JOB.task("compile-result")


def test_the_states_of_a_jobs_tasks_are_those_of_its_picture(backend: Backend) -> None:
    plan = a_plan()
    tasks = tuple(replace(t, kind=TaskKind.APPROVAL) if t.ref == GATE else t for t in plan.tasks)
    channel = NotifyTarget(channel="#brand")
    named = replace(plan, tasks=tasks, job=replace(plan.job, notify=channel))
    backend.intake.write(named)
    backend.intake.open(named, now_ms=NOW_MS)
    picture, found = backend.jobs.picture(JOB), backend.jobs.states(JOB)
    assert found.job == picture.job
    assert {(one.ref, one.run, one.state, one.attempt, one.kind) for one in found.tasks} == {
        (task.ref, task.run, task.state, task.attempt, task.kind) for task in picture.tasks
    }
    assert {one.kind for one in found.tasks if one.ref == GATE} == {TaskKind.APPROVAL}
    assert {one.ref for one in found.visible_tasks} == {task.ref for task in picture.visible_tasks}


@pytest.mark.parametrize(
    "notify",
    [
        NotifyTarget(channel="#brand"),
        NotifyTarget(webhook="https://hooks.example/in?team=web"),
        NotifyTarget(channel="#brand", on=("completed", "failed")),
    ],
)
def test_whom_a_job_names_is_known_as_long_as_the_job_is(
    backend: Backend, notify: NotifyTarget
) -> None:
    plan = a_plan()
    named = replace(plan, job=replace(plan.job, notify=notify))
    backend.intake.write(named)
    backend.intake.open(named, now_ms=NOW_MS)
    opened = backend.jobs.find(JOB)
    assert opened is not None
    settled = backend.jobs.settle(opened, JobState.FAILED, now_ms=NOW_MS)
    assert [job.notify for job in (opened, settled, backend.jobs.picture(JOB).job)] == [notify] * 3


def test_what_people_declared_is_read_through_relays(backend: Backend) -> None:
    wide = [f"t{n}" for n in range(101)]
    plan = a_plan({"a": [], **{name: ["a"] for name in wide}, "z": wide})
    backend.intake.write(replace(plan, tasks=(), payloads={}))
    assert backend.jobs.picture(JOB).depends_on == {
        **dict.fromkeys(wide, ("a",)),
        "z": tuple(sorted(wide)),
    }


def test_an_unknown_job_and_another_tenants_job_look_the_same(backend: Backend) -> None:
    backend.intake.write(a_plan())
    assert backend.jobs.find(JobRef("other", JOB.job_id)) is None
    with pytest.raises(UnknownJob):
        backend.jobs.picture(JobRef("other", JOB.job_id))
    with pytest.raises(UnknownJob):
        backend.jobs.states(JobRef("other", JOB.job_id))


def test_the_first_failure_stays_stored(backend: Backend) -> None:
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


def test_jobs_are_found_many_at_a_time(backend: Backend) -> None:
    others = [JobRef(TENANT, f"job-00000000-0000-4000-8000-{number:012}") for number in range(130)]
    for ref in others[:2]:
        backend.intake.write(a_plan(job=ref))
    found = backend.jobs.find_many([*others, JobRef("other", others[0].job_id)])
    assert sorted(job.ref for job in found) == others[:2]
    assert backend.jobs.find_many([]) == []
