"""The contract of `StartLimits`, and of claims under limits."""

import itertools
from dataclasses import replace

import pytest

from switchyard.domain.scheduling.limits import MOST_WAITERS, LimitRef
from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import Busy, LimitFull
from switchyard.domain.tasks.task import Outcome, TaskRun
from switchyard.ports import Claimed, ClaimRefused
from tests.builders import JOB, NOW_MS, TENANT
from tests.contract.conftest import Backend
from tests.contract.scheduling.ready_tasks import LEASE_MS, claimed, queued, store, the_task

TWO = "q:review:2"
REF = LimitRef(TENANT, TWO)
COMPLETED = Outcome(state=TaskState.COMPLETED)
FAILED = Outcome(state=TaskState.FAILED, error="boom")
OVER_MS = NOW_MS + LEASE_MS + 1


@pytest.fixture
def limited(backend: Backend) -> Backend:
    """Four tasks, of which two may run at once."""
    store(backend, *(queued(name, limits=(TWO,)) for name in "abcd"))
    return backend


def refusal(backend: Backend, task_id: str, *, now_ms: int = NOW_MS) -> ClaimRefused:
    answer = backend.leases.claim(
        JOB.task(task_id), owner="another", now_ms=now_ms, lease_ms=LEASE_MS, limits=(TWO,)
    )
    assert isinstance(answer, ClaimRefused)
    return answer


def full(backend: Backend, task_id: str = "c", *, now_ms: int = NOW_MS) -> str:
    decision = refusal(backend, task_id, now_ms=now_ms).decision
    assert isinstance(decision, LimitFull)
    return decision.name


def free(backend: Backend, ref: LimitRef = REF, *, now_ms: int = NOW_MS) -> int:
    return backend.limits.free(ref, now_ms=now_ms)


def runs(*names: str, run: int = 1) -> list[TaskRun]:
    return [TaskRun(JOB.task(name), run) for name in names]


def test_no_more_run_than_the_limit_allows(limited: Backend) -> None:
    assert free(limited) == 2
    claimed(limited, "a")
    claimed(limited, "b")
    before = the_task(limited, "c")
    assert full(limited) == TWO
    assert the_task(limited, "c") == before
    assert limited.limits.holders(REF) == runs("a", "b")
    assert free(limited) == 0


def test_a_claim_that_knows_of_no_limits_takes_a_place_all_the_same(limited: Backend) -> None:
    for name in "ab":
        answer = limited.leases.claim(JOB.task(name), owner=name, now_ms=NOW_MS, lease_ms=LEASE_MS)
        assert isinstance(answer, Claimed)
        assert answer.task == the_task(limited, name)
    answer = limited.leases.claim(JOB.task("c"), owner="c", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(answer, ClaimRefused)
    assert isinstance(answer.decision, LimitFull)


def test_a_claim_that_is_wrong_about_limits_goes_by_the_item(backend: Backend) -> None:
    store(backend, queued("a"))
    answer = backend.leases.claim(
        JOB.task("a"), owner="o", now_ms=NOW_MS, lease_ms=LEASE_MS, limits=(TWO,)
    )
    assert isinstance(answer, Claimed)
    assert free(backend) == 2


def test_asking_again_for_a_claim_takes_no_second_place(limited: Backend) -> None:
    assert claimed(limited, "a", owner="o").task == claimed(limited, "a", owner="o").task
    assert free(limited) == 1
    decision = refusal(limited, "a").decision
    assert isinstance(decision, Busy)


def test_a_takeover_finds_its_place(limited: Backend) -> None:
    claimed(limited, "a")
    claimed(limited, "b")
    again = claimed(limited, "a", now_ms=OVER_MS, owner="the next")
    assert again.task.attempt == 2
    assert limited.limits.holders(REF) == runs("a", "b")


@pytest.mark.parametrize("outcome", [COMPLETED, FAILED], ids=lambda one: one.state)
def test_a_settlement_gives_the_place_back(limited: Backend, outcome: Outcome) -> None:
    lease = claimed(limited, "a").lease
    for _ in range(2):
        settled = limited.leases.settle(lease, outcome, output=1, now_ms=NOW_MS)
        assert settled == the_task(limited)
        assert free(limited) == 2


def test_a_release_gives_the_place_back(limited: Backend) -> None:
    lease = claimed(limited, "a").lease
    released = limited.leases.release(lease, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=True)
    assert released == the_task(limited)
    assert free(limited) == 2


def test_giving_up_gives_the_place_back(limited: Backend) -> None:
    claimed(limited, "a")
    assert not limited.leases.give_up(the_task(limited), FAILED, now_ms=NOW_MS)
    assert free(limited) == 1
    assert limited.leases.give_up(the_task(limited), FAILED, now_ms=OVER_MS)
    assert free(limited) == 2


def test_a_task_takes_a_place_of_each_of_its_limits_or_of_none(backend: Backend) -> None:
    one, other = "q:review:1", "d:scrape:1:0f"
    store(backend, queued("a", limits=(one,)), queued("b", limits=(other, one)))
    lease = claimed(backend, "a").lease
    answer = backend.leases.claim(JOB.task("b"), owner="b", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(answer, ClaimRefused)
    assert isinstance(answer.decision, LimitFull)
    assert answer.decision.name == one
    assert free(backend, LimitRef(TENANT, other)) == 1
    backend.leases.settle(lease, FAILED, output=None, now_ms=NOW_MS)
    claimed(backend, "b")
    assert [free(backend, LimitRef(TENANT, name)) for name in (one, other)] == [0, 0]


def test_limits_of_two_tenants_have_nothing_in_common(limited: Backend) -> None:
    claimed(limited, "a")
    assert free(limited, LimitRef("another", TWO)) == 2


def test_a_task_waits_while_the_limit_is_full(limited: Backend) -> None:
    waiting = the_task(limited, "c")
    assert not limited.limits.wait(waiting, TWO, now_ms=NOW_MS)
    claimed(limited, "a")
    claimed(limited, "b")
    assert limited.limits.wait(waiting, TWO, now_ms=NOW_MS)
    assert partition_of(the_task(limited, "c")) is Partition.LIMITED
    assert limited.limits.waiters(REF, at_most=9) == [JOB.task("c")]
    assert not limited.limits.wait(waiting, TWO, now_ms=NOW_MS)
    assert limited.ready.heads("default", TENANT, now_ms=NOW_MS, limit=9)[0].ref == JOB.task("d")


def wait_for(backend: Backend, *names: str) -> None:
    for name in names:
        assert backend.limits.wait(the_task(backend, name), TWO, now_ms=NOW_MS)


def test_who_gives_a_place_back_lets_the_oldest_in(backend: Backend) -> None:
    ages = {"a": 0, "b": 0, "c": 5, "d": 9}
    tasks = (queued(name, limits=(TWO,), ready_at_ms=NOW_MS - ages[name]) for name in ages)
    store(backend, *tasks)
    lease = claimed(backend, "a").lease
    claimed(backend, "b")
    wait_for(backend, "c", "d")
    assert backend.limits.waiters(REF, at_most=1) == [JOB.task("d")]
    assert backend.limits.let_in(REF, now_ms=NOW_MS) == []
    backend.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS)
    (moved,) = backend.limits.let_in(REF, now_ms=NOW_MS, at_most=5)
    assert moved == the_task(backend, "d")
    assert partition_of(moved) is Partition.READY
    assert backend.limits.waiters(REF, at_most=9) == [JOB.task("c")]


def test_one_that_does_not_wait_any_more_is_forgotten(limited: Backend) -> None:
    lease = claimed(limited, "a").lease
    claimed(limited, "b")
    wait_for(limited, "c", "d")
    cancelled = Outcome(state=TaskState.CANCELLED)
    assert limited.leases.give_up(the_task(limited, "c"), cancelled, now_ms=NOW_MS)
    limited.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS)
    assert [one.ref for one in limited.limits.let_in(REF, now_ms=NOW_MS)] == [JOB.task("d")]
    assert limited.limits.waiters(REF, at_most=9) == []


def test_one_that_waits_may_still_be_claimed_once_there_is_a_place(limited: Backend) -> None:
    lease = claimed(limited, "a").lease
    claimed(limited, "b")
    wait_for(limited, "c")
    limited.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS)
    assert claimed(limited, "c").task.ready_in is None
    assert limited.limits.let_in(REF, now_ms=NOW_MS) == []


def test_beyond_a_bound_the_index_alone_knows_who_waits(backend: Backend) -> None:
    names = [f"t{number}" for number in range(MOST_WAITERS + 3)]
    store(backend, *(queued(name, limits=(TWO,)) for name in (*names, "x", "y")))
    claimed(backend, "x")
    claimed(backend, "y")
    wait_for(backend, *names)
    assert len(backend.limits.waiters(REF, at_most=999)) == MOST_WAITERS
    assert _limited(backend) == len(names)


def _limited(backend: Backend) -> int:
    found, cursor = 0, None
    while True:
        page = backend.ready.page(Partition.LIMITED, "default", TENANT, limit=999, cursor=cursor)
        found, cursor = found + len(page.tasks), page.cursor
        if cursor is None:
            return found


def test_a_place_is_taken_away_only_from_a_run_that_nobody_runs(limited: Backend) -> None:
    lease = claimed(limited, "a").lease
    (holder,) = runs("a")
    assert not limited.limits.remove_stale(REF, holder)
    assert not limited.limits.remove_stale(REF, runs("b")[0])
    assert limited.limits.holders(REF) == [holder]
    limited.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS)
    assert limited.limits.holders(REF) == []


def test_a_place_that_an_older_version_did_not_give_back_is_taken_away(limited: Backend) -> None:
    """It knows of no limits: whatever it writes leaves the place to the task."""
    lease = claimed(limited, "a").lease
    unaware = replace(lease, task=replace(lease.task, limits=()))
    limited.leases.release(unaware, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=False)
    claimed(limited, "b")
    given_up = replace(the_task(limited, "b"), limits=())
    assert limited.leases.give_up(given_up, FAILED, now_ms=OVER_MS)
    assert free(limited) == 0
    for holder in runs("a", "b"):
        assert limited.limits.remove_stale(REF, holder)
        assert not limited.limits.remove_stale(REF, holder)
    assert free(limited) == 2


def test_one_that_was_claimed_again_keeps_its_place(limited: Backend) -> None:
    lease = claimed(limited, "a").lease
    unaware = replace(lease, task=replace(lease.task, limits=()))
    limited.leases.release(unaware, not_before_ms=0, now_ms=NOW_MS, give_attempt_back=False)
    claimed(limited, "a", owner="again")
    assert not limited.limits.remove_stale(REF, runs("a")[0])
    assert limited.limits.holders(REF) == runs("a")


def test_starts_are_counted_in_each_minute(backend: Backend) -> None:
    name = "qm:review:2"
    ref = LimitRef(TENANT, name)
    store(backend, *(queued(one, limits=(name,)) for one in "abcdef"))
    minute_ms = NOW_MS - NOW_MS % 60_000
    leases = [claimed(backend, one, now_ms=minute_ms + 50_000).lease for one in "ab"]
    assert free(backend, ref, now_ms=minute_ms + 59_999) == 0
    for lease in leases:
        backend.leases.settle(lease, COMPLETED, output=1, now_ms=minute_ms + 59_000)
    assert full(backend, now_ms=minute_ms + 59_999) == name
    assert backend.limits.wait(the_task(backend, "c"), name, now_ms=minute_ms + 59_999)
    assert not backend.limits.wait(the_task(backend, "d"), name, now_ms=minute_ms + 60_000)
    (moved,) = backend.limits.let_in(ref, now_ms=minute_ms + 60_000, at_most=9)
    assert moved.ref == JOB.task("c")
    for one, now_ms in zip("cd", itertools.count(minute_ms + 60_000), strict=False):
        claimed(backend, one, now_ms=now_ms)
    assert full(backend, "e", now_ms=minute_ms + 60_002) == name
    assert backend.limits.holders(ref) == []
