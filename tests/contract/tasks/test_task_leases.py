"""The contract of `TaskLeases`."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from switchyard.domain.errors import LeaseLost
from switchyard.domain.ids import START
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import Busy, Done, Exhausted, NotYet
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, Outcome, Usage
from switchyard.ports import Claimed, ClaimRefused
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend

LEASE_MS = 45_000
ROOT = JOB.task("scrape-store")
COMPLETED = Outcome(
    state=TaskState.COMPLETED,
    duration_ms=1200,
    exit_code=0,
    usage=Usage(input_tokens=10, output_tokens=20, cost_usd=0.0125),
    artifacts="task/logs/x/1/",
)
FAILED = Outcome(state=TaskState.FAILED, error="boom", error_category="validation")


@pytest.fixture
def ready(backend: Backend) -> Backend:
    """A job whose root `scrape-store` may be claimed."""
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    task = backend.graph.remove_edges(ROOT, {f"{START}@1": True})
    backend.graph.decide(task, Readiness(TaskState.READY, "ok"), now_ms=NOW_MS)
    return backend


def claim(backend: Backend, *, owner: str = "w1", now_ms: int = NOW_MS) -> Claimed:
    answer = backend.leases.claim(ROOT, owner=owner, now_ms=now_ms, lease_ms=LEASE_MS)
    assert isinstance(answer, Claimed)
    return answer


def refusal(backend: Backend, *, now_ms: int = NOW_MS) -> ClaimRefused:
    answer = backend.leases.claim(ROOT, owner="w2", now_ms=now_ms, lease_ms=LEASE_MS)
    assert isinstance(answer, ClaimRefused)
    return answer


def test_a_claim_takes_the_lease_and_counts_the_attempt(ready: Backend) -> None:
    before = ready.graph.find(ROOT)
    assert before is not None
    claimed = claim(ready)
    assert claimed.task.state is TaskState.PROCESSING
    assert (claimed.task.attempt, claimed.task.owner) == (1, "w1")
    assert claimed.task.fence == before.fence + 1
    assert claimed.task.lease_until_ms == NOW_MS + LEASE_MS
    assert claimed.task == ready.graph.find(ROOT)


def test_a_second_claim_of_a_live_lease_is_refused_with_its_end(ready: Backend) -> None:
    claim(ready)
    refused = refusal(ready, now_ms=NOW_MS + 1)
    assert isinstance(refused.decision, Busy)
    assert str(NOW_MS + LEASE_MS) in refused.decision.reason
    assert refused.task.attempt == 1


def test_a_lapsed_lease_is_taken_over_and_the_old_one_is_lost(ready: Backend) -> None:
    old = claim(ready)
    new = claim(ready, owner="w2", now_ms=NOW_MS + LEASE_MS + 1)
    assert new.task.attempt == 2
    assert new.lease.fence > old.lease.fence
    with pytest.raises(LeaseLost):
        ready.leases.renew(old.lease, lease_until_ms=NOW_MS + 10 * LEASE_MS)
    with pytest.raises(LeaseLost):
        ready.leases.settle(old.lease, COMPLETED, output={}, now_ms=NOW_MS)
    with pytest.raises(LeaseLost):
        ready.leases.release(old.lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)
    assert ready.graph.find(ROOT) == new.task


def test_an_owner_with_another_name_cannot_settle(ready: Backend) -> None:
    claimed = claim(ready)
    with pytest.raises(LeaseLost):
        ready.leases.settle(Lease(claimed.task, "thief"), COMPLETED, output={}, now_ms=NOW_MS)


def test_an_owner_with_an_old_fence_changes_nothing(ready: Backend) -> None:
    claimed = claim(ready)
    old = Lease(replace(claimed.task, fence=claimed.task.fence - 1), claimed.lease.owner)
    changes: list[Callable[[], object]] = [
        lambda: ready.leases.renew(old, lease_until_ms=NOW_MS + 9 * LEASE_MS),
        lambda: ready.leases.settle(old, COMPLETED, output={}, now_ms=NOW_MS),
        lambda: ready.leases.settle(old, FAILED, output=None, now_ms=NOW_MS),
        lambda: ready.leases.release(
            old, not_before_ms=NOW_MS, now_ms=NOW_MS, give_attempt_back=False
        ),
    ]
    for change in changes:
        with pytest.raises(LeaseLost):
            change()
    assert ready.graph.find(ROOT) == claimed.task


def test_a_renewal_moves_the_end_of_the_lease_and_nothing_else(ready: Backend) -> None:
    claimed = claim(ready)
    renewed = ready.leases.renew(claimed.lease, lease_until_ms=NOW_MS + 2 * LEASE_MS)
    assert renewed.lease_until_ms == NOW_MS + 2 * LEASE_MS
    assert (renewed.fence, renewed.due_at_ms) == (claimed.task.fence, claimed.task.due_at_ms)


def test_a_late_renewal_does_not_shorten_the_lease(ready: Backend) -> None:
    """The first try timed out and arrives after the second."""
    claimed = claim(ready)
    ready.leases.renew(claimed.lease, lease_until_ms=NOW_MS + 3 * LEASE_MS)
    late = ready.leases.renew(claimed.lease, lease_until_ms=NOW_MS + 2 * LEASE_MS)
    assert late.lease_until_ms == NOW_MS + 3 * LEASE_MS


def test_settling_stores_the_outcome_and_the_output(ready: Backend) -> None:
    lease = claim(ready).lease
    settled = ready.leases.settle(lease, COMPLETED, output={"a": [1.5, "ü"]}, now_ms=NOW_MS + 5)
    stored = ready.graph.find(ROOT)
    assert stored is not None
    assert (stored.state, stored.outcome) == (TaskState.COMPLETED, COMPLETED)
    assert stored.settled_at_ms == settled.settled_at_ms == NOW_MS + 5
    assert stored.fence == settled.fence == lease.fence
    assert ready.payloads.read(ROOT).output == {"a": [1.5, "ü"]}


def test_an_output_too_large_for_an_item_is_read_from_the_bucket(ready: Backend) -> None:
    large = {"text": "x" * 20_000}
    ready.blobs.put(
        "task/logs/x/1/artifacts/task-result.json",
        json.dumps(large).encode(),
        content_type="application/json",
    )
    ready.leases.settle(claim(ready).lease, COMPLETED, output=large, now_ms=NOW_MS)
    assert ready.payloads.read(ROOT).output == large
    assert ready.payloads.outputs(JOB, ["scrape-store"]) == {"scrape-store": large}


def test_a_settled_task_is_done_for_everybody(ready: Backend) -> None:
    lease = claim(ready).lease
    ready.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS)
    assert isinstance(refusal(ready, now_ms=NOW_MS + 10 * LEASE_MS).decision, Done)
    with pytest.raises(LeaseLost):
        ready.leases.settle(lease, FAILED, output=None, now_ms=NOW_MS)
    with pytest.raises(LeaseLost):
        ready.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=False)


def test_a_failure_is_stored_without_an_output(ready: Backend) -> None:
    ready.leases.settle(claim(ready).lease, FAILED, output=None, now_ms=NOW_MS)
    stored = ready.graph.find(ROOT)
    assert stored is not None
    assert stored.outcome == FAILED
    assert ready.payloads.outputs(JOB, ["scrape-store"]) == {}


def test_a_handed_back_task_waits_until_its_time_and_keeps_its_attempts(ready: Backend) -> None:
    claimed = claim(ready)
    released = ready.leases.release(
        claimed.lease,
        not_before_ms=NOW_MS + 1000,
        now_ms=NOW_MS,
        give_attempt_back=True,
        error="network",
    )
    assert (released.state, released.attempt) == (TaskState.QUEUED, 0)
    assert (released.owner, released.last_error) == (None, "network")
    early = refusal(ready)
    assert isinstance(early.decision, NotYet)
    assert early.decision.wait_ms == 1000
    assert claim(ready, now_ms=NOW_MS + 1000).task.attempt == 1


def test_a_retry_uses_up_attempts_until_none_is_left(ready: Backend) -> None:
    for _ in range(3):
        lease = claim(ready).lease
        ready.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=False)
    refused = refusal(ready)
    assert isinstance(refused.decision, Exhausted)
    assert "3 attempts" in refused.decision.reason


def test_giving_up_needs_the_fence_that_was_read(ready: Backend) -> None:
    read = ready.graph.find(ROOT)
    assert read is not None
    claimed = claim(ready)
    failed = Outcome(state=TaskState.FAILED, error="exhausted")
    assert ready.leases.give_up(read, failed, now_ms=NOW_MS + LEASE_MS + 1) is None
    assert ready.leases.give_up(claimed.task, failed, now_ms=NOW_MS) is None
    given_up = ready.leases.give_up(claimed.task, failed, now_ms=NOW_MS + LEASE_MS + 1)
    assert given_up is not None
    assert (given_up.state, given_up.fence) == (TaskState.FAILED, claimed.task.fence + 1)


def test_an_unknown_task_is_nobodys(ready: Backend) -> None:
    unknown = JOB.task("nobody")
    assert ready.leases.claim(unknown, owner="w", now_ms=NOW_MS, lease_ms=1) is None


def test_an_owner_that_claims_again_gets_the_lease_it_has(ready: Backend) -> None:
    first = claim(ready)
    renewed = ready.leases.renew(first.lease, lease_until_ms=NOW_MS + 2 * LEASE_MS)
    again = claim(ready, now_ms=NOW_MS + 2 * LEASE_MS)
    assert again == Claimed(renewed, Lease(renewed, "w1"))
    assert (again.lease.fence, again.task.attempt) == (first.lease.fence, 1)
    assert ready.graph.find(ROOT) == renewed


def test_an_owner_that_claims_again_too_late_begins_another_attempt(ready: Backend) -> None:
    first = claim(ready)
    again = claim(ready, now_ms=NOW_MS + LEASE_MS + 1)
    assert (again.lease.fence, again.task.attempt) == (first.lease.fence + 1, 2)


@pytest.mark.parametrize("outcome", [COMPLETED, FAILED], ids=["completed", "failed"])
def test_settling_again_finds_what_was_settled_first(ready: Backend, outcome: Outcome) -> None:
    lease = claim(ready).lease
    ready.leases.settle(lease, outcome, output=1, now_ms=NOW_MS)
    stored = ready.graph.find(ROOT)
    changed = replace(outcome, duration_ms=9999)
    assert ready.leases.settle(lease, changed, output=2, now_ms=NOW_MS + 5) == stored
    assert ready.graph.find(ROOT) == stored
    saved = 1 if outcome is COMPLETED else None
    assert ready.payloads.read(ROOT).output == saved


def test_releasing_again_gives_no_second_attempt_back(ready: Backend) -> None:
    lease = claim(ready).lease
    ready.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=False)
    lease = claim(ready).lease
    released = [
        ready.leases.release(lease, not_before_ms=n, now_ms=NOW_MS, give_attempt_back=True)
        for n in (7, 8)
    ]
    assert released[0] == released[1] == ready.graph.find(ROOT)
    assert (released[1].attempt, released[1].not_before_ms) == (1, 7)


def test_a_release_is_not_repeated_once_the_task_was_claimed_since(ready: Backend) -> None:
    lease = claim(ready).lease
    ready.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)
    other = claim(ready, owner="w2").lease
    ready.leases.release(other, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)
    with pytest.raises(LeaseLost):
        ready.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)


def test_two_that_give_up_get_the_same_answer(ready: Backend) -> None:
    read = ready.graph.find(ROOT)
    assert read is not None
    first = ready.leases.give_up(read, FAILED, now_ms=NOW_MS)
    assert first == ready.graph.find(ROOT)
    assert ready.leases.give_up(read, FAILED, now_ms=NOW_MS + 5) == first
    cancelled = Outcome(state=TaskState.CANCELLED)
    assert ready.leases.give_up(read, cancelled, now_ms=NOW_MS) is None
    assert ready.graph.find(ROOT) == first


def test_a_failure_by_a_later_owner_is_not_a_giving_up(ready: Backend) -> None:
    read = ready.graph.find(ROOT)
    assert read is not None
    ready.leases.settle(claim(ready).lease, FAILED, output=None, now_ms=NOW_MS)
    assert ready.leases.give_up(read, FAILED, now_ms=NOW_MS) is None


def test_what_was_handed_back_since_it_was_read_is_not_given_up(ready: Backend) -> None:
    """The owner was away for longer than its lease, came back and handed the task back."""
    claimed = claim(ready)
    lapsed = NOW_MS + 2 * LEASE_MS
    handed_back = ready.leases.release(
        claimed.lease, not_before_ms=lapsed, now_ms=lapsed, give_attempt_back=True
    )
    assert ready.leases.give_up(claimed.task, FAILED, now_ms=lapsed) is None
    assert ready.graph.find(ROOT) == handed_back
