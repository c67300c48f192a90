"""The contract of `TaskLeases` for the signs of life that renewals bring."""

import pytest

from switchyard.domain.ids import START
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, LifeSigns, Task
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend

LEASE_MS = 45_000
ROOT = JOB.task("scrape-store")
QUERYING = LifeSigns(
    beat_at_ms=NOW_MS + 20_000,
    activity="sdk_query:plan",
    activity_at_ms=NOW_MS + 3_000,
    repeats=4,
)


@pytest.fixture
def lease(backend: Backend) -> Lease:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    task = backend.graph.remove_edges(ROOT, {f"{START}@1": True})
    backend.graph.decide(task, Readiness(TaskState.READY, "ok"), now_ms=NOW_MS)
    return claim(backend)


def claim(backend: Backend, *, now_ms: int = NOW_MS) -> Lease:
    answer = backend.leases.claim(ROOT, owner="w1", now_ms=now_ms, lease_ms=LEASE_MS)
    assert isinstance(answer, Claimed)
    return answer.lease


def stored(backend: Backend) -> Task:
    task = backend.graph.find(ROOT)
    assert task is not None
    return task


def test_a_task_has_no_signs_before_its_first_renewal(backend: Backend, lease: Lease) -> None:
    assert lease.task.signs is None
    assert stored(backend).signs is None


@pytest.mark.parametrize(
    "signs", [QUERYING, LifeSigns(beat_at_ms=NOW_MS)], ids=["all", "life only"]
)
def test_a_renewal_stores_its_signs(backend: Backend, lease: Lease, signs: LifeSigns) -> None:
    renewed = backend.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=signs)
    assert renewed.signs == signs
    assert stored(backend) == renewed


def test_a_late_renewal_does_not_replace_what_was_seen_since(
    backend: Backend, lease: Lease
) -> None:
    backend.leases.renew(lease, lease_until_ms=NOW_MS + 3 * LEASE_MS, signs=QUERYING)
    late = LifeSigns(beat_at_ms=NOW_MS, activity="step_running:plan", activity_at_ms=NOW_MS)
    answer = backend.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=late)
    assert answer.signs == stored(backend).signs == QUERYING


def test_a_renewal_without_signs_leaves_those_of_the_one_before(
    backend: Backend, lease: Lease
) -> None:
    backend.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=QUERYING)
    renewed = backend.leases.renew(lease, lease_until_ms=NOW_MS + 3 * LEASE_MS)
    assert renewed.signs == QUERYING


def test_the_next_attempt_begins_without_the_signs_of_the_last(
    backend: Backend, lease: Lease
) -> None:
    backend.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=QUERYING)
    again = claim(backend, now_ms=NOW_MS + 2 * LEASE_MS + 1)
    assert again.task.attempt == 2
    assert again.task.signs is stored(backend).signs is None
