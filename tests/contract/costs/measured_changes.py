"""Each write of an addition, a cancellation or a redrive, and what comes before it."""

from typing import Any

from switchyard.domain.jobs.additions import grouped
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.redrive import NewEdges, RedrivePlan, Reopening
from switchyard.domain.tasks.task import Payload
from tests.contract.costs.metered_harness import (
    CHILD,
    DEFINITION,
    JOB,
    NOW_MS,
    PARENTS,
    TENANT,
    MeteredHarness,
)

KEY = f"task/redrives/{TENANT}/{JOB.job_id}/1-{'f' * 64}.json"


def add_tasks(harness: MeteredHarness) -> int:
    harness.opened()
    name = "added-after-one-that-".ljust(40, "x")
    spec = TaskSpec(task_id=name, name=DEFINITION, depends_on=PARENTS[:1])
    (group,) = grouped([spec], number=1)
    seen = harness.additions.chunk_context(JOB, group.parents)
    chunk = plan_chunk(group, seen, pinned={DEFINITION: Pinned(3)}, at_ms=NOW_MS)
    assert chunk is not None
    return harness.cost(lambda: harness.additions.add(chunk))


def begin_cancel(harness: MeteredHarness) -> int:
    job = harness.opened()
    return harness.cost(lambda: harness.cancelling.begin(job, now_ms=NOW_MS + 654_321))


def flag(harness: MeteredHarness) -> int:
    task = harness.claimed().task
    return harness.cost(lambda: harness.cancelling.cancel(task, now_ms=NOW_MS))


def cancel(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.cancelling.cancel(task, now_ms=NOW_MS + 999))


def cancel_together(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.cancelling.cancel_many([task], now_ms=NOW_MS + 999))


def flag_together(harness: MeteredHarness) -> int:
    harness.opened()
    task = harness.child()
    return harness.cost(lambda: harness.cancelling.cancel_many([task], now_ms=NOW_MS))


def clear_due_together(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.cancelling.cancel(harness.child(), now_ms=NOW_MS)
    assert task is not None
    return harness.cost(lambda: harness.graph.clear_due_of_many([task]))


def note_cancelled(harness: MeteredHarness) -> int:
    job = harness.opened()
    harness.cancelling.begin(job, now_ms=NOW_MS)
    return harness.cost(lambda: harness.cancelling.note_progress(job, f"all#{CHILD.task_id}"))


def end_cancel(harness: MeteredHarness) -> int:
    job = harness.opened()
    harness.cancelling.begin(job, now_ms=NOW_MS)
    return harness.cost(
        lambda: harness.cancelling.end(job, now_ms=NOW_MS + 654_321, cursor="events#")
    )


def note_emitted(harness: MeteredHarness) -> int:
    job = harness.opened()
    harness.cancelling.begin(job, now_ms=NOW_MS)
    harness.cancelling.end(job, now_ms=NOW_MS, cursor="events#")
    return harness.cost(lambda: harness.cancelling.note_reported(job, f"events#{CHILD.task_id}"))


def begin_redrive(harness: MeteredHarness) -> int:
    job = harness.settled_job()
    return harness.cost(lambda: harness.redriving.begin(job, key=KEY, now_ms=NOW_MS + 654_321))


def add_edges(harness: MeteredHarness) -> int:
    harness.opened()
    added = NewEdges(before=(CHILD.task_id,), added=("__end__",))
    plan = RedrivePlan(run=1, asked_at_ms=NOW_MS, waiting=(), ready=(), edges={PARENTS[0]: added})
    return harness.cost(lambda: harness.redriving.prepare(JOB, plan, PARENTS[0]))


def reopen_waiting(harness: MeteredHarness) -> int:
    return _reopened(harness, waiting_on=frozenset(f"{parent}@2" for parent in PARENTS))


def reopen_ready(harness: MeteredHarness) -> int:
    return _reopened(harness)


def reopen_with_input(harness: MeteredHarness) -> int:
    return _reopened(harness, given=Payload(input={"text": "x" * 700}))


def _reopened(harness: MeteredHarness, *, given: Payload | None = None, **facts: Any) -> int:
    task = harness.failed()
    reopening = Reopening(
        task_id=CHILD.task_id, state=task.state, run=task.run, fence=task.fence, **facts
    )
    return harness.cost(
        lambda: harness.redriving.reopen(JOB, reopening, given=given, now_ms=NOW_MS + 654_321)
    )


def note_reopened(harness: MeteredHarness) -> int:
    job = _redriving(harness)
    return harness.cost(lambda: harness.redriving.note(job, written=100))


def open_again(harness: MeteredHarness) -> int:
    job = _redriving(harness)
    return harness.cost(lambda: harness.redriving.open(job, now_ms=NOW_MS + 765_432))


def end_redrive(harness: MeteredHarness) -> int:
    opened = harness.redriving.open(_redriving(harness), now_ms=NOW_MS + 765_432)
    assert opened is not None
    return harness.cost(lambda: harness.redriving.end(opened, now_ms=NOW_MS + 876_543))


def _redriving(harness: MeteredHarness) -> Job:
    assert harness.redriving.begin(harness.settled_job(), key=KEY, now_ms=NOW_MS + 654_321)
    job = harness.jobs.find(JOB)
    assert job is not None
    return job
