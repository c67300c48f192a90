"""The contract of `ReadyIndex`."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.ids import START
from switchyard.domain.scheduling.ready import Partition, ReadyTask
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome
from tests.builders import JOB, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend
from tests.contract.scheduling.ready_tasks import LEASE_MS, claimed, queued, store, the_task

GROUP = "default"
COMPLETED = Outcome(state=TaskState.COMPLETED)


def names(tasks: Any) -> list[str]:
    return [one.ref.task_id for one in tasks]


def heads(backend: Backend, *, now_ms: int = NOW_MS, limit: int = 10) -> list[str]:
    return names(backend.ready.heads(GROUP, TENANT, now_ms=now_ms, limit=limit))


def test_a_task_that_becomes_ready_is_proposed_until_it_is_claimed(backend: Backend) -> None:
    plan = a_plan({"a": []})
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    task = backend.graph.remove_edges(JOB.task("a"), {f"{START}@1": True})
    assert heads(backend) == []
    backend.graph.decide(task, Readiness(TaskState.READY, "ok"), now_ms=NOW_MS)
    assert heads(backend) == []  # its event is still to be emitted
    backend.graph.mark_queued(the_task(backend), now_ms=NOW_MS + 5)
    (head,) = backend.ready.heads(GROUP, TENANT, now_ms=NOW_MS, limit=10)
    assert head == ReadyTask(
        ref=JOB.task("a"),
        queue="default",
        definition="scrape",
        priority="normal",
        ready_from_ms=NOW_MS,
    )
    assert heads(backend, now_ms=NOW_MS - 1) == []
    claimed(backend)
    assert heads(backend) == []
    assert the_task(backend).ready_in is None


def test_what_choosing_needs_is_in_the_index(backend: Backend) -> None:
    facts: dict[str, Any] = {"queue": "review/fast", "priority": "high", "lease_ms": 60_000}
    store(backend, queued("a", limits=("q:review/fast:5",), **facts))
    assert heads(backend) == []
    (head,) = backend.ready.heads("review", TENANT, now_ms=NOW_MS, limit=10)
    assert head == ReadyTask(
        ref=JOB.task("a"),
        definition="scrape",
        ready_from_ms=NOW_MS,
        limits=("q:review/fast:5",),
        **facts,
    )


def test_heads_are_the_oldest_of_each_class(backend: Backend) -> None:
    store(
        backend,
        *(queued(f"n{n}", ready_at_ms=NOW_MS - n) for n in range(5)),
        *(queued(f"h{n}", ready_at_ms=NOW_MS - n, priority="high") for n in range(3)),
        *(queued(f"l{n}", ready_at_ms=NOW_MS - n, priority="low") for n in range(4)),
    )
    assert heads(backend, limit=2) == ["h2", "h1", "n4", "n3", "l3", "l2"]
    assert heads(backend, limit=1) == ["h2", "n4", "l3"]
    assert heads(backend, limit=4) == ["h2", "h1", "h0", "n4", "n3", "n2", "n1", *_low()]
    assert heads(backend, limit=20) == ["h2", "h1", "h0", "n4", "n3", "n2", "n1", "n0", *_low()]


def _low() -> list[str]:
    return ["l3", "l2", "l1", "l0"]


def test_those_that_start_later_hide_nobody(backend: Backend) -> None:
    later = [queued(f"h{n}", not_before_ms=NOW_MS + 5, priority="high") for n in range(3)]
    store(backend, *later, queued("n"), queued("l", priority="low"))
    assert heads(backend, limit=2) == ["n", "l"]
    assert heads(backend, limit=2, now_ms=NOW_MS + 5) == ["h0", "h1", "n", "l"]


def test_a_count_stops_where_it_is_told_to(backend: Backend) -> None:
    store(
        backend,
        *(queued(f"n{n}") for n in range(4)),
        queued("h", priority="high"),
        queued("l", not_before_ms=NOW_MS + 9, priority="low"),
    )
    count = backend.ready.count
    assert count(GROUP, TENANT, now_ms=NOW_MS, at_most=100) == 5
    assert count(GROUP, TENANT, now_ms=NOW_MS + 9, at_most=100) == 6
    assert count(GROUP, TENANT, now_ms=NOW_MS, at_most=3) == 3
    assert count(GROUP, "another", now_ms=NOW_MS, at_most=3) == 0


@pytest.mark.parametrize("partition", Partition)
def test_a_key_anywhere_counts_as_work(backend: Backend, partition: Partition) -> None:
    assert not backend.ready.holds_any(GROUP, TENANT)
    store(backend, queued("a", not_before_ms=NOW_MS + 90_000))
    if partition:
        assert backend.ready.move(the_task(backend), partition)
    assert backend.ready.holds_any(GROUP, TENANT)
    assert not backend.ready.holds_any("another", TENANT)


def test_a_release_proposes_the_task_again_when_it_may_start(backend: Backend) -> None:
    store(backend, queued("a"))
    lease = claimed(backend).lease
    backend.leases.release(lease, not_before_ms=NOW_MS + 70, now_ms=NOW_MS, give_attempt_back=False)
    assert heads(backend, now_ms=NOW_MS + 69) == []
    assert heads(backend, now_ms=NOW_MS + 70) == ["a"]


def test_a_task_without_a_key_enters_and_leaves(backend: Backend) -> None:
    store(backend, replace(queued("a"), ready_in=None, ready_order=None))
    assert heads(backend) == []
    before = the_task(backend)
    assert backend.ready.enter(before, now_ms=NOW_MS)
    assert backend.ready.enter(before, now_ms=NOW_MS)
    assert heads(backend) == ["a"]
    assert not backend.ready.leave(before)
    assert backend.ready.leave(the_task(backend))
    assert the_task(backend) == before


def test_one_whose_lease_is_over_enters(backend: Backend) -> None:
    store(backend, queued("a"))
    lease = claimed(backend).lease
    read = the_task(backend)
    over_ms = NOW_MS + LEASE_MS + 1
    assert not backend.ready.enter(read, now_ms=NOW_MS + LEASE_MS)
    backend.leases.renew(lease, lease_until_ms=over_ms)
    assert not backend.ready.enter(read, now_ms=over_ms)
    assert backend.ready.enter(the_task(backend), now_ms=over_ms + 1)
    assert heads(backend, now_ms=over_ms) == ["a"]
    backend.leases.settle(lease, COMPLETED, output=1, now_ms=over_ms)
    assert heads(backend, now_ms=over_ms) == []


def test_who_gives_a_task_up_removes_its_key(backend: Backend) -> None:
    store(backend, queued("a"))
    assert backend.leases.give_up(
        the_task(backend), Outcome(state=TaskState.CANCELLED), now_ms=NOW_MS
    )
    assert not backend.ready.holds_any(GROUP, TENANT)


@pytest.mark.parametrize(
    "facts",
    [{"state": TaskState.WAITING}, {"state": TaskState.HELD}, {"kind": TaskKind.APPROVAL}],
    ids=str,
)
def test_what_no_worker_may_claim_does_not_enter(backend: Backend, facts: Any) -> None:
    store(backend, replace(queued("a"), ready_in=None, ready_order=None, **facts))
    assert not backend.ready.enter(the_task(backend), now_ms=NOW_MS)


def test_nothing_happens_to_a_key_of_a_task_that_is_not_as_read(backend: Backend) -> None:
    store(backend, queued("a"))
    before = the_task(backend)
    lease = claimed(backend).lease
    backend.leases.release(lease, not_before_ms=0, now_ms=NOW_MS + 1, give_attempt_back=True)
    after = the_task(backend)
    assert not backend.ready.enter(before, now_ms=NOW_MS)
    assert not backend.ready.leave(before)
    assert not backend.ready.move(before, Partition.HELD)
    assert the_task(backend) == after


def test_a_key_moves_to_another_partition_and_back(backend: Backend) -> None:
    store(backend, queued("a"), queued("b"), queued("c"))
    for name in ("a", "b"):
        assert backend.ready.move(the_task(backend, name), Partition.HELD)
    assert heads(backend) == ["c"]
    assert not backend.ready.move(queued("a"), Partition.UNSERVED)
    page = backend.ready.page(Partition.HELD, GROUP, TENANT, limit=1, cursor=None)
    assert names(page.tasks) == ["a"]
    assert page.cursor is not None
    rest = backend.ready.page(Partition.HELD, GROUP, TENANT, limit=5, cursor=page.cursor)
    assert (names(rest.tasks), rest.cursor) == (["b"], None)
    assert backend.ready.move(the_task(backend, "a"), Partition.READY)
    assert heads(backend) == ["a", "c"]
    assert backend.ready.enter(the_task(backend, "b"), now_ms=NOW_MS)
    assert heads(backend) == ["a", "b", "c"]
