"""Each write of an addition, a cancellation or a redrive, and what comes before it."""

from typing import Any

from switchyard.domain.jobs.additions import grouped
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.redriving import NewEdges, RedrivePlan, Reopening
from switchyard.domain.tasks.task import Payload
from tests.contract.metered_yard import (
    CHILD,
    DEFINITION,
    JOB,
    NOW_MS,
    PARENTS,
    TENANT,
    MeteredYard,
)

KEY = f"task/redrives/{TENANT}/{JOB.job_id}/1-{'f' * 64}.json"


def add_tasks(yard: MeteredYard) -> int:
    yard.opened()
    name = "added-after-one-that-".ljust(40, "x")
    spec = TaskSpec(task_id=name, name=DEFINITION, depends_on=PARENTS[:1])
    (group,) = grouped([spec], number=1)
    seen = yard.additions.surroundings(JOB, group.parents)
    chunk = plan_chunk(group, seen, pinned={DEFINITION: Pinned(3)}, at_ms=NOW_MS)
    assert chunk is not None
    return yard.cost(lambda: yard.additions.add(chunk))


def begin_cancel(yard: MeteredYard) -> int:
    job = yard.opened()
    return yard.cost(lambda: yard.cancelling.begin(job, now_ms=NOW_MS + 654_321))


def flag(yard: MeteredYard) -> int:
    task = yard.claimed().task
    return yard.cost(lambda: yard.cancelling.cancel(task, now_ms=NOW_MS))


def cancel(yard: MeteredYard) -> int:
    yard.queued()
    task = yard.child()
    return yard.cost(lambda: yard.cancelling.cancel(task, now_ms=NOW_MS + 999))


def cancel_together(yard: MeteredYard) -> int:
    yard.queued()
    task = yard.child()
    return yard.cost(lambda: yard.cancelling.cancel_many([task], now_ms=NOW_MS + 999))


def flag_together(yard: MeteredYard) -> int:
    yard.opened()
    task = yard.child()
    return yard.cost(lambda: yard.cancelling.cancel_many([task], now_ms=NOW_MS))


def clear_due_together(yard: MeteredYard) -> int:
    yard.queued()
    task = yard.cancelling.cancel(yard.child(), now_ms=NOW_MS)
    assert task is not None
    return yard.cost(lambda: yard.graph.clear_due_of_many([task]))


def note_cancelled(yard: MeteredYard) -> int:
    job = yard.opened()
    yard.cancelling.begin(job, now_ms=NOW_MS)
    return yard.cost(lambda: yard.cancelling.note_progress(job, f"all#{CHILD.task_id}"))


def end_cancel(yard: MeteredYard) -> int:
    job = yard.opened()
    yard.cancelling.begin(job, now_ms=NOW_MS)
    return yard.cost(lambda: yard.cancelling.end(job, now_ms=NOW_MS + 654_321, cursor="events#"))


def note_emitted(yard: MeteredYard) -> int:
    job = yard.opened()
    yard.cancelling.begin(job, now_ms=NOW_MS)
    yard.cancelling.end(job, now_ms=NOW_MS, cursor="events#")
    return yard.cost(lambda: yard.cancelling.note_reported(job, f"events#{CHILD.task_id}"))


def begin_redrive(yard: MeteredYard) -> int:
    job = yard.settled_job()
    return yard.cost(lambda: yard.redriving.begin(job, key=KEY, now_ms=NOW_MS + 654_321))


def add_edges(yard: MeteredYard) -> int:
    yard.opened()
    added = NewEdges(before=(CHILD.task_id,), added=("__end__",))
    plan = RedrivePlan(run=1, asked_at_ms=NOW_MS, waiting=(), ready=(), edges={PARENTS[0]: added})
    return yard.cost(lambda: yard.redriving.prepare(JOB, plan, PARENTS[0]))


def reopen_waiting(yard: MeteredYard) -> int:
    return _reopened(yard, waiting_on=frozenset(f"{parent}@2" for parent in PARENTS))


def reopen_ready(yard: MeteredYard) -> int:
    return _reopened(yard)


def reopen_with_input(yard: MeteredYard) -> int:
    return _reopened(yard, given=Payload(input={"text": "x" * 700}))


def _reopened(yard: MeteredYard, *, given: Payload | None = None, **facts: Any) -> int:
    task = yard.failed()
    reopening = Reopening(
        task_id=CHILD.task_id, state=task.state, run=task.run, fence=task.fence, **facts
    )
    return yard.cost(
        lambda: yard.redriving.reopen(JOB, reopening, given=given, now_ms=NOW_MS + 654_321)
    )


def note_reopened(yard: MeteredYard) -> int:
    job = _redriving(yard)
    return yard.cost(lambda: yard.redriving.note(job, written=100))


def open_again(yard: MeteredYard) -> int:
    job = _redriving(yard)
    return yard.cost(lambda: yard.redriving.open(job, now_ms=NOW_MS + 765_432))


def end_redrive(yard: MeteredYard) -> int:
    opened = yard.redriving.open(_redriving(yard), now_ms=NOW_MS + 765_432)
    assert opened is not None
    return yard.cost(lambda: yard.redriving.end(opened, now_ms=NOW_MS + 876_543))


def _redriving(yard: MeteredYard) -> Job:
    assert yard.redriving.begin(yard.settled_job(), key=KEY, now_ms=NOW_MS + 654_321)
    job = yard.jobs.find(JOB)
    assert job is not None
    return job
