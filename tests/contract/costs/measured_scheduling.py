"""Writes of the ready index, of tenants' clocks and of limits: each answers what it cost."""

from dataclasses import replace
from typing import Final

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.limits import LimitRef
from switchyard.domain.scheduling.ready import Partition
from switchyard.domain.tasks.task import Lease, TaskRun
from switchyard.ports import Claimed
from tests.contract.costs.measured_writes import COMPLETED, FAILED
from tests.contract.costs.metered_harness import (
    CHILD,
    JOB,
    LEASE_MS,
    NOW_MS,
    TENANT,
    WORKER,
    MeteredHarness,
)

GROUP: Final = "reviews-of-the-north"
LIMIT: Final = "d:analyse-competitors-and-their-prices:5:0f1e2d3c4b5a6978"
ONE: Final = "d:analyse-competitors-and-their-prices:1:0f1e2d3c4b5a6978"
OTHER: Final = JOB.task("child-of-nobody-".ljust(40, "x"))


def claim_limited(harness: MeteredHarness) -> int:
    harness.limit(LIMIT)
    harness.queued()
    _hold_others(harness)
    return harness.cost(lambda: _lease(harness, CHILD))


def settle_limited(harness: MeteredHarness) -> int:
    lease = _claimed(harness)
    output = {"text": "x" * 700}
    return harness.cost(
        lambda: harness.leases.settle(lease, COMPLETED, output=output, now_ms=NOW_MS + 999)
    )


def release_limited(harness: MeteredHarness) -> int:
    lease = _claimed(harness)
    return harness.cost(
        lambda: harness.leases.release(
            lease, not_before_ms=NOW_MS, now_ms=NOW_MS, give_attempt_back=False, error="e" * 200
        )
    )


def give_up_limited(harness: MeteredHarness) -> int:
    _claimed(harness)
    task, over_ms = harness.child(), NOW_MS + 2 * LEASE_MS
    return harness.cost(lambda: harness.leases.give_up(task, FAILED, now_ms=over_ms))


def wait_for_place(harness: MeteredHarness) -> int:
    _fill(harness)
    task = harness.child()
    return harness.cost(lambda: harness.limits.wait(task, ONE, now_ms=NOW_MS))


def let_in(harness: MeteredHarness) -> int:
    lease = _fill(harness)
    harness.limits.wait(harness.child(), ONE, now_ms=NOW_MS)
    harness.leases.settle(lease, FAILED, output=None, now_ms=NOW_MS)
    ref = LimitRef(TENANT, ONE)
    return harness.cost(lambda: harness.limits.let_in(ref, now_ms=NOW_MS))


def remove_stale(harness: MeteredHarness) -> int:
    lease = _claimed(harness)
    unaware = replace(lease, task=replace(lease.task, limits=()))
    harness.leases.settle(unaware, COMPLETED, output=1, now_ms=NOW_MS)
    holder, ref = TaskRun(CHILD, 1), LimitRef(TENANT, LIMIT)
    return harness.cost(lambda: harness.limits.remove_stale(ref, holder))


def enter_ready(harness: MeteredHarness) -> int:
    harness.claimed()
    task, over_ms = harness.child(), NOW_MS + 2 * LEASE_MS
    return harness.cost(lambda: harness.ready_index.enter(task, now_ms=over_ms))


def leave_ready(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.ready_index.leave(task))


def move_ready(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.ready_index.move(task, Partition.HELD))


def mark_first(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.mark(GROUP, TENANT, now_ms=NOW_MS))


def mark_again(harness: MeteredHarness) -> int:
    mark_first(harness)
    return harness.cost(lambda: harness.clocks.mark(GROUP, TENANT, now_ms=NOW_MS + 60_000))


def unmark(harness: MeteredHarness) -> int:
    mark_first(harness)
    return harness.cost(lambda: harness.clocks.unmark(GROUP, TENANT, marked_at_ms=NOW_MS))


def charge_tenant(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.charge(GROUP, {TENANT: 0.0123}))


def catch_up(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.catch_up(GROUP, TENANT))


def weigh_tenant(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.weigh(GROUP, TENANT, 2.0))


def raise_floor(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.raise_floor(GROUP, 1.0))


def note_cost(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.clocks.note_cost(GROUP, 0.0123, 1))


def _claimed(harness: MeteredHarness) -> Lease:
    harness.limit(LIMIT)
    harness.queued()
    _hold_others(harness)
    return _lease(harness, CHILD)


def _hold_others(harness: MeteredHarness) -> None:
    """Let four others have a place: the item is as large as this limit lets it become."""
    for number in range(4):
        _adopted(harness, f"{number}".ljust(40, "x"), LIMIT)


def _fill(harness: MeteredHarness) -> Lease:
    harness.limit(ONE)
    harness.queued()
    return _adopted(harness, OTHER.task_id, ONE)


def _adopted(harness: MeteredHarness, name: str, limit: str) -> Lease:
    """Write another task with the limit, and claim it."""
    task = replace(harness.child(), ref=JOB.task(name), limits=(limit,))
    plan = replace(harness.plan, tasks=(task,), dependents={}, payloads={})
    harness.intake.write_part(plan)
    return _lease(harness, task.ref)


def _lease(harness: MeteredHarness, ref: TaskRef) -> Lease:
    answer = harness.leases.claim(
        ref,
        owner=f"{WORKER}/{ref.task_id}",
        now_ms=NOW_MS + 345,
        lease_ms=LEASE_MS,
        limits=(LIMIT,),
    )
    assert isinstance(answer, Claimed), answer
    return answer.lease
