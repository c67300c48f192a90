"""The contract of `QueueContents`, on every store of due times."""

from dataclasses import replace

import pytest

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.scheduling.placement import Placing, Wish
from switchyard.domain.states import TaskState
from switchyard.ports.work_queues import Contents, QueueContents
from switchyard.usecases.queues.due_contents import DueContents
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.contract.backends import Backend

OTHER = "acme-two"


@pytest.fixture
def contents(backend: Backend) -> QueueContents:
    return DueContents(unsettled=backend.unsettled)


def submitted(backend: Backend, tenant: str = TENANT, **wish: str) -> JobRef:
    """Write a job of three tasks that may run at once."""
    ref = JobRef(tenant, JOB_ID)
    plan = plan_job(
        ref,
        name="job",
        tags={},
        specs=[TaskSpec(task_id=name, name="scrape") for name in ("a", "b", "c")],
        pinned={"scrape": Pinned(1)},
        now_ms=NOW_MS,
        placing=Placing(wish=Wish(**wish)),
    )
    ready = [
        task
        if task.ref.hidden
        else replace(task, state=TaskState.QUEUED, ready_at_ms=NOW_MS, due_at_ms=NOW_MS)
        for task in plan.tasks
    ]
    backend.intake.write(replace(plan, tasks=tuple(ready)))
    return ref


def test_an_unused_queue_is_empty(contents: QueueContents) -> None:
    found = contents.of(TENANT, "default/slow")
    assert found == Contents()
    assert found.empty


def test_what_waits_and_what_runs_is_counted_by_class(
    backend: Backend, contents: QueueContents
) -> None:
    ref = submitted(backend, queue="default/slow", priority="high")
    backend.leases.claim(ref.task("a"), owner="w-1", lease_ms=9, now_ms=NOW_MS + 1)
    found = contents.of(TENANT, "default/slow")
    assert (found.pending, found.in_flight) == ({"high": 2}, {"high": 1})
    assert (found.consumers, found.oldest_ready_at_ms) == (1, NOW_MS)
    assert (found.partial, found.empty) == (False, False)


def test_other_queues_and_other_tenants_do_not_count(
    backend: Backend, contents: QueueContents
) -> None:
    submitted(backend)
    assert contents.of(TENANT, "default").pending == {"normal": 3}
    assert contents.of(TENANT, "default/slow").empty
    assert contents.of(OTHER, "default").empty
