"""The contract of `Unsettled`, the list of tasks that are under way."""

from switchyard.domain.ids import DUE_SHARDS, START, JobRef, TaskRef, due_shard
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome
from switchyard.ports import Claimed, UnsettledTask
from tests.builders import JOB, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend

ROOT = JOB.task("scrape-store")
READY_AT = NOW_MS + 1
STARTED_AT = NOW_MS + 2


def opened(backend: Backend, job: JobRef = JOB) -> None:
    plan = a_plan({"scrape-store": [], "color-tags": ["scrape-store"]}, job=job)
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)


def made_ready(backend: Backend, job: JobRef = JOB) -> None:
    opened(backend, job)
    task = backend.graph.remove_edges(job.task("scrape-store"), {f"{START}@1": True})
    backend.graph.decide(task, Readiness(TaskState.READY, "ok"), now_ms=READY_AT)


def claimed(backend: Backend, job: JobRef = JOB) -> Claimed:
    made_ready(backend, job)
    answer = backend.leases.claim(
        job.task("scrape-store"), owner="w/1", now_ms=STARTED_AT, lease_ms=45_000
    )
    assert isinstance(answer, Claimed)
    return answer


def listed(backend: Backend, *, limit: int = 100) -> dict[TaskRef, UnsettledTask]:
    """All shards, page by page."""
    found: list[UnsettledTask] = []
    for shard in range(DUE_SHARDS):
        cursor: str | None = None
        while True:
            page = backend.unsettled.page(shard, limit=limit, cursor=cursor)
            assert len(page.tasks) <= limit
            found += page.tasks
            cursor = page.cursor
            if cursor is None:
                break
    refs = {task.ref: task for task in found}
    assert len(refs) == len(found)
    return refs


def test_what_may_run_is_listed_with_the_time_since_when(backend: Backend) -> None:
    made_ready(backend)
    assert listed(backend)[ROOT] == UnsettledTask(
        ref=ROOT, state=TaskState.READY, ready_at_ms=READY_AT, started_at_ms=None
    )


def test_what_runs_is_listed_with_the_start_of_its_attempt(backend: Backend) -> None:
    claimed(backend)
    assert listed(backend)[ROOT] == UnsettledTask(
        ref=ROOT, state=TaskState.PROCESSING, ready_at_ms=READY_AT, started_at_ms=STARTED_AT
    )


def test_jobs_and_tasks_that_wait_are_not_listed(backend: Backend) -> None:
    opened(backend)
    assert {ref.task_id for ref in listed(backend)} == {START}


def test_what_has_settled_is_listed_until_it_is_followed(backend: Backend) -> None:
    lease = claimed(backend).lease
    failed = Outcome(state=TaskState.FAILED, error="boom")
    settled = backend.leases.settle(lease, failed, output=None, now_ms=STARTED_AT + 5)
    assert listed(backend)[ROOT].state is TaskState.FAILED
    backend.graph.clear_due(settled)
    assert ROOT not in listed(backend)


def test_pages_go_on_where_they_ended(backend: Backend) -> None:
    jobs = [JobRef(TENANT, f"job-00000000-0000-4000-8000-{n:012d}") for n in range(60)]
    shard = due_shard(jobs[0].task(START).request_id)
    together = [job for job in jobs if due_shard(job.task(START).request_id) == shard][:3]
    for job in together:
        opened(backend, job)
    assert {job.task(START) for job in together} == listed(backend, limit=1).keys()


def test_tasks_of_different_jobs_and_tenants_are_read_together(backend: Backend) -> None:
    others = JobRef("umbrella", JOB.job_id)
    mine, theirs = claimed(backend).task, claimed(backend, others).task
    read = backend.unsettled.read([mine.ref, theirs.ref, JOB.task("nobody")])
    assert sorted(read, key=lambda task: task.ref) == [mine, theirs]
    assert backend.unsettled.read([]) == ()
