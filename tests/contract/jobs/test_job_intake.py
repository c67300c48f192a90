"""The contract of `JobIntake`."""

from dataclasses import replace

import pytest

from switchyard.domain.errors import Conflict, UnknownJob
from switchyard.domain.ids import START
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan, items_in, part_of
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task
from tests.builders import JOB, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend

KEY = "task/documents/acme/it.json"
WIDTH = 55
WIDE: dict[str, list[str]] = {"a": [], **{f"b{n}": ["a"] for n in range(WIDTH)}}


def accepted(plan: JobPlan) -> Job:
    return replace(plan.job, document_key=KEY)


def of_another_submission(plan: JobPlan) -> JobPlan:
    return replace(plan, job=replace(plan.job, created_at_ms=NOW_MS + 1))


def stored_job(backend: Backend) -> Job:
    job = backend.jobs.find(JOB)
    assert job is not None
    return job


def stored_tasks(backend: Backend) -> list[Task]:
    return sorted(backend.jobs.picture(JOB).tasks, key=lambda task: task.ref)


def in_order(plan: JobPlan) -> list[Task]:
    return sorted(plan.tasks, key=lambda task: task.ref)


def test_writing_a_job_again_undoes_nothing(backend: Backend) -> None:
    """A try that nobody waited for any more may arrive when the job is under way."""
    plan = a_plan()
    moved = tuple(replace(task, waiting_on=frozenset(), fence=3) for task in plan.tasks)
    under_way = replace(plan, tasks=moved)
    backend.intake.write(under_way)
    backend.intake.write(plan)
    assert stored_tasks(backend) == in_order(under_way)


def test_writing_a_job_again_adds_what_is_missing(backend: Backend) -> None:
    plan = a_plan(WIDE)
    first, last = (part_of(plan, first=n, at_most=WIDTH) for n in (0, items_in(plan) - WIDTH))
    backend.intake.accept(plan.job)
    backend.intake.write_part(first)
    backend.intake.write_part(last)
    backend.intake.write(plan)
    assert stored_tasks(backend) == in_order(plan)
    assert all(backend.payloads.read(JOB.task(f"b{n}")).depends_on == ("a",) for n in range(WIDTH))


def test_opening_a_job_settles_its_start(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS + 3)
    start = backend.graph.find(JOB.task(START))
    assert start is not None
    assert stored_job(backend).state is JobState.OPEN
    assert (start.state, start.settled_at_ms) == (TaskState.COMPLETED, NOW_MS + 3)
    assert start.due_at_ms is not None


def test_a_job_is_opened_once_however_often_its_submission_is_repeated(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS + 3)
    start = backend.graph.find(JOB.task(START))
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS + 9)
    assert backend.graph.find(JOB.task(START)) == start
    settled = backend.jobs.settle(stored_job(backend), JobState.COMPLETED, now_ms=NOW_MS + 10)
    backend.intake.open(plan, now_ms=NOW_MS + 11)
    assert stored_job(backend) == settled


def test_another_submission_cannot_have_the_same_job(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    other = of_another_submission(plan)
    with pytest.raises(Conflict):
        backend.intake.write(other)
    with pytest.raises(Conflict):
        backend.intake.open(other, now_ms=NOW_MS)
    for job in (accepted(other), accepted(plan)):
        with pytest.raises(Conflict):
            backend.intake.accept(job)
    assert stored_job(backend) == plan.job


def test_a_job_is_not_opened_before_it_is_written(backend: Backend) -> None:
    plan = a_plan()
    with pytest.raises(Conflict):
        backend.intake.open(plan, now_ms=NOW_MS)
    backend.intake.accept(accepted(plan))
    with pytest.raises(Conflict):
        backend.intake.open(plan, now_ms=NOW_MS)
    assert stored_job(backend).state is JobState.WRITING


def test_an_accepted_job_is_there_without_tasks_and_is_not_listed(backend: Backend) -> None:
    job = accepted(a_plan())
    backend.intake.accept(job)
    backend.intake.accept(job)
    picture = backend.jobs.picture(JOB)
    assert (picture.job, picture.tasks) == (job, ())
    assert backend.jobs.page(TENANT, limit=2, cursor=None).jobs == ()


def test_an_accepted_job_is_written_in_parts(backend: Backend) -> None:
    plan = a_plan(WIDE)
    backend.intake.accept(accepted(plan))
    for first in range(0, items_in(plan), 120):
        backend.intake.write_part(part_of(plan, first=first, at_most=120))
    backend.intake.open(plan, now_ms=NOW_MS)
    assert [task.ref for task in stored_tasks(backend)] == [task.ref for task in in_order(plan)]
    assert stored_job(backend).document_key == KEY


def test_how_much_is_written_only_grows(backend: Backend) -> None:
    job = accepted(a_plan())
    backend.intake.accept(job)
    assert backend.intake.note_written(job, 5).written == 5
    assert backend.intake.note_written(job, 3).written == 5
    assert backend.intake.note_written(job, 9) == replace(job, written=9)
    assert stored_job(backend) == replace(job, written=9)


def test_how_much_is_written_is_noted_no_more_once_a_job_is_open(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    opened = stored_job(backend)
    assert backend.intake.note_written(plan.job, 5) == opened
    assert stored_job(backend) == opened


def test_nothing_is_noted_of_a_job_that_is_not_there(backend: Backend) -> None:
    with pytest.raises(UnknownJob):
        backend.intake.note_written(a_plan().job, 5)
