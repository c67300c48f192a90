"""The contract of `FanOuts` for items that an earlier list had."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.fan_out.earlier_items import earlier_items, left_the_list
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Outcome, Overrides, Payload, Task
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.conftest import Backend

ITEM = JOB.task("review[a]")
OLD = Payload(input="old", depends_on=("list",), files=("job/brief",), when="x")
FAN_OUT = a_task("review", items_run=4)
NEW = a_task(
    "review[a]",
    state=TaskState.WAITING,
    run=4,
    waiting_on=frozenset({f"{start_of(FAN_OUT).task_id}@1"}),
    definition_version=7,
    max_attempts=2,
)


def store(backend: Backend, **facts: Any) -> Task:
    item = a_task("review[a]", **{"run": 3, "fence": 5, **facts})
    plan = a_plan()
    part = replace(
        plan,
        tasks=(item,),
        dependents={ITEM.task_id: ("__fan-review[0]",)},
        payloads={ITEM.task_id: OLD},
    )
    backend.intake.write(plan)
    backend.intake.write_part(part)
    return found(backend)


def found(backend: Backend) -> Task:
    task = backend.graph.find(ITEM)
    assert task is not None
    return task


def completed(backend: Backend) -> Task:
    """An item that has all that a run leaves behind."""
    store(backend, state=TaskState.QUEUED, overrides=Overrides(model="m"), ready_at_ms=3)
    claimed = backend.leases.claim(ITEM, owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    done = Outcome(state=TaskState.COMPLETED, exit_code=0)
    backend.leases.settle(claimed.lease, done, output={"made": "y" * 9_000}, now_ms=NOW_MS)
    return found(backend)


def replaced(backend: Backend, item: Task = NEW, **data: Any) -> None:
    backend.fan_outs.replace(item, Payload(**{"input": "new", **data}), ("review",))


def test_an_item_takes_the_place_of_an_earlier_one_with_its_data_and_edges(
    backend: Backend,
) -> None:
    before = completed(backend)
    replaced(backend, artifacts=("a.md",))
    assert found(backend) == replace(NEW, fence=before.fence + 1)
    assert backend.payloads.read(ITEM) == Payload(input="new", artifacts=("a.md",))
    assert backend.payloads.outputs(JOB, [ITEM.task_id]) == {}
    assert backend.graph.edges_from([ITEM]) == {ITEM.task_id: ("review",)}


def test_what_was_asked_for_instead_comes_with_the_item(backend: Backend) -> None:
    completed(backend)
    replaced(backend, replace(NEW, overrides=Overrides(max_turns=3)))
    assert found(backend).overrides == Overrides(max_turns=3)


def test_an_item_that_was_never_opened_is_replaced_as_well(backend: Backend) -> None:
    store(backend, state=TaskState.WAITING, waiting_on=frozenset({"__fan-review@1"}))
    replaced(backend)
    assert found(backend).run == 4


@pytest.mark.parametrize(
    "facts",
    [
        {"state": TaskState.WAITING, "run": 4, "fence": 9},
        {"state": TaskState.COMPLETED, "run": 5},
        {"state": TaskState.PROCESSING},
        {"state": TaskState.QUEUED},
        {"state": TaskState.READY},
    ],
    ids=str,
)
def test_what_is_of_this_list_or_under_way_stays_as_it_is(backend: Backend, facts: Any) -> None:
    before = store(backend, **facts)
    replaced(backend)
    assert backend.fan_outs.drop(ITEM, items_run=4, now_ms=NOW_MS) is None
    assert found(backend) == before
    assert backend.payloads.read(ITEM) == OLD
    assert backend.graph.edges_from([ITEM]) == {ITEM.task_id: ("__fan-review[0]",)}


def test_an_item_that_left_the_list_is_skipped_once(backend: Backend) -> None:
    before = completed(backend)
    dropped = backend.fan_outs.drop(ITEM, items_run=4, now_ms=NOW_MS + 5)
    assert dropped == found(backend)
    assert dropped is not None
    assert (dropped.state, dropped.run, dropped.fence) == (TaskState.SKIPPED, 4, before.fence + 1)
    assert (dropped.outcome, dropped.settled_at_ms) == (left_the_list(), NOW_MS + 5)
    assert dropped.due_at_ms == NOW_MS + 5 + due.AFTER_SETTLING
    assert (dropped.owner, dropped.started_at_ms, dropped.attempt) == (None, None, 0)
    assert backend.fan_outs.drop(ITEM, items_run=4, now_ms=NOW_MS + 9) == dropped
    assert backend.fan_outs.drop(JOB.task("review[z]"), items_run=4, now_ms=NOW_MS) is None


def test_items_of_an_earlier_list_are_found_by_their_run(backend: Backend) -> None:
    store(backend, state=TaskState.SKIPPED)
    states = backend.jobs.states(JOB)
    assert [one.ref for one in earlier_items(states, FAN_OUT)] == [ITEM]
    backend.fan_outs.drop(ITEM, items_run=4, now_ms=NOW_MS)
    assert earlier_items(backend.jobs.states(JOB), FAN_OUT) == []
    assert earlier_items(states, replace(FAN_OUT, items_run=None)) == []
