"""The contract of `Overdue`."""

from dataclasses import replace

import pytest

from switchyard.domain.ids import DUE_SHARDS, START, JobRef, TaskRef, due_shard
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend

ROOT = JOB.task("scrape-store")
IN_A_DAY = NOW_MS + 86_400_000


@pytest.fixture
def opened(backend: Backend) -> Backend:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    return backend


def overdue(backend: Backend, *, now_ms: int) -> set[JobRef | TaskRef]:
    pages = [
        backend.overdue.page(shard, now_ms=now_ms, limit=100, cursor=None)
        for shard in range(DUE_SHARDS)
    ]
    return {ref for page in pages for ref in page.refs}


def the_start(backend: Backend) -> Task:
    task = backend.graph.find(JOB.task(START))
    assert task is not None
    return task


def the_root(backend: Backend) -> Task:
    task = backend.graph.find(ROOT)
    assert task is not None
    return task


def the_job(backend: Backend) -> Job:
    job = backend.jobs.find(JOB)
    assert job is not None
    return job


def make_ready(backend: Backend) -> None:
    task = backend.graph.remove_edges(ROOT, {f"{START}@1": True})
    backend.graph.decide(task, Readiness(TaskState.READY, "ok"), now_ms=NOW_MS)


def test_things_are_overdue_from_their_due_time_on(opened: Backend) -> None:
    start_is_due = NOW_MS + due.AFTER_SETTLING
    assert overdue(opened, now_ms=start_is_due - 1) == set()
    assert overdue(opened, now_ms=start_is_due) == {JOB.task(START)}
    assert overdue(opened, now_ms=NOW_MS + due.JOB_AUDIT) == {JOB.task(START), JOB}


def test_what_is_dispatched_is_not_overdue(opened: Backend) -> None:
    opened.graph.clear_due(the_start(opened))
    assert overdue(opened, now_ms=NOW_MS + due.AFTER_SETTLING) == set()


def test_the_longest_overdue_comes_first_and_pages_go_on_where_they_ended(
    backend: Backend,
) -> None:
    jobs = [JobRef(TENANT, f"job-00000000-0000-4000-8000-{n:012d}") for n in range(60)]
    shard = due_shard(jobs[0].job_id)
    same_shard = [job for job in jobs if due_shard(job.job_id) == shard][:3]
    assert len(same_shard) == 3
    for age, job in enumerate(same_shard):
        plan = a_plan({"a": []}, job=job)
        backend.intake.write(replace(plan, job=replace(plan.job, due_at_ms=NOW_MS - age)))
    first = backend.overdue.page(shard, now_ms=NOW_MS, limit=2, cursor=None)
    assert first.refs == (same_shard[2], same_shard[1])
    assert first.cursor is not None
    rest = backend.overdue.page(shard, now_ms=NOW_MS, limit=2, cursor=first.cursor)
    assert (rest.refs, rest.cursor) == ((same_shard[0],), None)


def test_a_page_goes_on_although_what_it_ended_with_was_moved(backend: Backend) -> None:
    backend.intake.write(a_plan({"a": []}))
    shard = due_shard(JOB.job_id)
    page = backend.overdue.page(shard, now_ms=IN_A_DAY, limit=1, cursor=None)
    assert page.refs == (JOB,)
    assert backend.overdue.move_due(the_job(backend), IN_A_DAY + 1)
    if page.cursor is not None:  # DynamoDB says so when the limit was reached
        rest = backend.overdue.page(shard, now_ms=IN_A_DAY, limit=1, cursor=page.cursor)
        assert (rest.refs, rest.cursor) == ((), None)


def test_of_two_that_move_a_due_time_one_does(opened: Backend) -> None:
    start = the_start(opened)
    assert opened.overdue.move_due(start, IN_A_DAY)
    assert not opened.overdue.move_due(start, IN_A_DAY + 1)
    assert the_start(opened) == replace(start, due_at_ms=IN_A_DAY)
    assert overdue(opened, now_ms=IN_A_DAY - 1) == {JOB}


def test_a_due_time_that_was_cleared_is_not_moved(opened: Backend) -> None:
    start = the_start(opened)
    opened.graph.clear_due(start)
    assert not opened.overdue.move_due(start, IN_A_DAY)
    assert the_start(opened).due_at_ms is None


def test_the_due_time_of_a_job_is_moved_too(opened: Backend) -> None:
    job = the_job(opened)
    assert opened.overdue.move_due(job, IN_A_DAY)
    assert not opened.overdue.move_due(job, IN_A_DAY)
    assert the_job(opened) == replace(job, due_at_ms=IN_A_DAY)


def test_nudges_are_counted_until_the_task_is_claimed(opened: Backend) -> None:
    make_ready(opened)
    for n in (1, 2):
        assert opened.overdue.move_due(the_root(opened), IN_A_DAY + n, count=True)
        assert the_root(opened).resends == n
    claimed = opened.leases.claim(ROOT, owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    assert claimed.task.resends == the_root(opened).resends == 0


def test_the_count_begins_anew_when_the_task_is_released(opened: Backend) -> None:
    make_ready(opened)
    claimed = opened.leases.claim(ROOT, owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    assert opened.overdue.move_due(claimed.task, IN_A_DAY, count=True)
    opened.leases.release(claimed.lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)
    assert the_root(opened).resends == 0


def test_the_count_begins_anew_when_the_task_is_given_up(opened: Backend) -> None:
    make_ready(opened)
    assert opened.overdue.move_due(the_root(opened), IN_A_DAY, count=True)
    opened.leases.give_up(the_root(opened), Outcome(state=TaskState.FAILED), now_ms=NOW_MS)
    assert the_root(opened).resends == 0


def test_a_job_that_was_never_opened_is_abandoned_once(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    job = the_job(backend)
    assert backend.overdue.abandon(job)
    assert not backend.overdue.abandon(job)
    assert overdue(backend, now_ms=IN_A_DAY) == set()
    assert backend.jobs.page(TENANT, limit=10, cursor=None).jobs == ()


def test_an_abandoned_job_can_still_be_opened_and_is_due_again(backend: Backend) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    backend.overdue.abandon(the_job(backend))
    backend.intake.open(plan, now_ms=NOW_MS)
    assert the_job(backend).state is JobState.OPEN
    assert overdue(backend, now_ms=IN_A_DAY) == {JOB, JOB.task(START)}


def test_an_open_job_is_not_abandoned(opened: Backend) -> None:
    assert not opened.overdue.abandon(the_job(opened))
    assert the_job(opened).due_at_ms == NOW_MS + due.JOB_AUDIT
