"""The queue is filled up to what can be claimed, and what nobody needs any more is cleared."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.ready import Partition, partition_of, ready_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.scheduling.sweep_groups import GroupSweeper, SweptGroup
from tests.builders import JOB_ID, NOW_MS, a_task

HOUR = 3_600
LIMIT = "q:default:1"


class Stage:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = MemoryHarness(self.clock)
        self.most_tokens = 50

    def add(self, task_id: str, *, tenant: str = "acme", **facts: Any) -> Task:
        task = replace(a_task(task_id, **facts), ref=TaskRef(tenant, JOB_ID, task_id))
        key: dict[str, Any] = dict(ready_key(task, task.ready_at_ms or NOW_MS))
        task = replace(task, **key)
        self.memory.clocks.mark("default", tenant, now_ms=NOW_MS)
        self.memory.state.tasks[task.ref] = task
        return task

    def sweep(self) -> list[SweptGroup]:
        sweeper = GroupSweeper(
            groups=lambda: ("default",),
            index=self.memory.ready,
            clocks=self.memory.clocks,
            limits=self.memory.limits,
            graph=self.memory.graph,
            pause_switch=self.memory.pause_switch,
            queue=self.memory.queue,
            waiting=lambda _group: self.memory.queue.depth().waiting,
            clock=self.clock,
            most_tokens=self.most_tokens,
        )
        return list(sweeper.sweep())

    def sent(self) -> list[str]:
        received = self.memory.queue.receive(at_most=99, wait_seconds=0, visibility_seconds=9)
        return [TaskMessage.model_validate_json(one.body).task_id for one in received]

    def marked(self) -> list[str]:
        tenants = self.memory.clocks.of_group("default").tenants
        return [one.tenant for one in tenants if one.marked_at_ms is not None]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_lost_tokens_are_sent_again(stage: Stage) -> None:
    tasks = [stage.add(f"t{number}") for number in range(3)]
    stage.memory.queue.send([TaskMessage.waking(tasks[0])])

    assert [one.sent for one in stage.sweep()] == [2]
    assert len(stage.sent()) == 3


def test_a_full_queue_is_left_alone(stage: Stage) -> None:
    task = stage.add("t")
    stage.memory.queue.send([TaskMessage.waking(task)])

    assert [one.sent for one in stage.sweep()] == [0]


def test_no_more_tokens_are_sent_than_workers_can_use(stage: Stage) -> None:
    stage.most_tokens = 10
    for number in range(30):
        stage.add(f"t{number}")

    stage.sweep()

    assert len(stage.sent()) == 10


def test_a_quiet_tenant_is_among_those_that_are_named(stage: Stage) -> None:
    stage.most_tokens = 10
    for number in range(30):
        stage.add(f"t{number}")
    stage.add("quiet", tenant="brass")

    stage.sweep()

    assert "quiet" in stage.sent()


def test_what_may_not_start_yet_gets_no_token(stage: Stage) -> None:
    stage.add("later", ready_at_ms=NOW_MS + 5_000)

    assert [one.sent for one in stage.sweep()] == [0]


def test_a_mark_without_any_key_is_cleared_after_an_hour(stage: Stage) -> None:
    stage.memory.clocks.mark("default", "acme", now_ms=NOW_MS)
    stage.clock.advance(HOUR - 1)
    stage.sweep()
    assert stage.marked() == ["acme"]

    stage.clock.advance(1)
    stage.sweep()
    assert stage.marked() == []


@pytest.mark.parametrize("partition", list(Partition))
def test_a_mark_stays_while_there_is_a_key_anywhere(stage: Stage, partition: Partition) -> None:
    task = stage.add("t", ready_at_ms=NOW_MS + 5 * HOUR * 1000)
    stage.memory.ready.move(task, partition)
    stage.clock.advance(HOUR)

    stage.sweep()

    assert stage.marked() == ["acme"]


def test_who_waits_for_a_limit_that_has_room_is_let_in(stage: Stage) -> None:
    first, second = stage.add("first", limits=(LIMIT,)), stage.add("second", limits=(LIMIT,))
    claimed = stage.memory.leases.claim(first.ref, owner="w", now_ms=NOW_MS, lease_ms=60_000)
    assert isinstance(claimed, Claimed)
    assert stage.memory.limits.wait(second, LIMIT, now_ms=NOW_MS)
    assert [one.let_in for one in stage.sweep()] == [0]

    stage.memory.leases.settle(
        claimed.lease, Outcome(state=TaskState.FAILED), output=None, now_ms=NOW_MS
    )

    assert [one.let_in for one in stage.sweep()] == [1]
    assert partition_of(stage.memory.state.tasks[second.ref]) is Partition.READY
    assert stage.sent() == ["second"]


def test_the_place_of_a_run_that_nobody_runs_is_taken_away(stage: Stage) -> None:
    first, second = stage.add("first", limits=(LIMIT,)), stage.add("second", limits=(LIMIT,))
    claimed = stage.memory.leases.claim(first.ref, owner="w", now_ms=NOW_MS, lease_ms=60_000)
    assert isinstance(claimed, Claimed)
    assert stage.memory.limits.wait(second, LIMIT, now_ms=NOW_MS)
    stage.memory.state.tasks[first.ref] = replace(claimed.task, state=TaskState.FAILED)

    assert [one.let_in for one in stage.sweep()] == [1]
    assert stage.sent() == ["second"]


def test_a_group_without_work_costs_one_read(stage: Stage) -> None:
    assert stage.sweep() == []


def test_tasks_come_back_when_their_pause_is_over(stage: Stage) -> None:
    held, other = stage.add("held", queue="default/slow"), stage.add("other", definition="audit")
    stage.memory.ready.move(held, Partition.HELD)
    stage.memory.ready.move(other, Partition.HELD)
    stage.memory.pause_switch.pause_part("queue:default/slow")
    stage.memory.pause_switch.pause_part("definition:audit")
    assert [one.resumed for one in stage.sweep()] == [0]

    stage.memory.pause_switch.resume_part("queue:default/slow")

    assert [one.resumed for one in stage.sweep()] == [1]
    assert stage.sent() == ["held"]
    assert partition_of(stage.memory.state.tasks[other.ref]) is Partition.HELD
