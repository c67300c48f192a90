"""Which tasks a redrive reopens, and what each waits for then."""

from typing import Any

import pytest

from switchyard.contracts.redrive_plans import plan_key, read_plan, stored_plan
from switchyard.domain.ids import END, START
from switchyard.domain.jobs.job import Job, JobPicture
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.jobs.plan import hidden_task
from switchyard.domain.jobs.redrive import (
    Changes,
    NewEdges,
    NotRedrivable,
    RedrivePlan,
    plan_redrive,
    select,
)
from switchyard.domain.jobs.relays import Edges
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Overrides, Task
from tests.builders import JOB, NOW_MS, a_task

COMPLETED, FAILED, SKIPPED = TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED
EDGES = {START: ("a", "x"), "a": ("b",), "b": ("c", "d"), "c": (END,), "d": (END,), "x": (END,)}
STATES = {"a": COMPLETED, "b": FAILED, "c": SKIPPED, "d": SKIPPED, "x": COMPLETED}


def a_picture(states: dict[str, TaskState], **facts: Any) -> JobPicture:
    job = Job(ref=JOB, name="j", state=JobState.FAILED, total_tasks=9, created_at_ms=1)
    visible = [a_task(name, state=state, fence=5, **facts) for name, state in states.items()]
    hidden = [hidden_task(JOB.task(START)), hidden_task(JOB.task(END))]
    return JobPicture(job=job, tasks=(*visible, *hidden), depends_on={})


def chosen(picture: JobPicture, *named: str) -> tuple[Task, ...]:
    found = select(picture, named)
    assert not isinstance(found, NotRedrivable)
    return found


def a_plan(
    states: dict[str, TaskState],
    edges: Edges,
    *named: str,
    changes: Changes | None = None,
    **facts: Any,
) -> RedrivePlan:
    picture = a_picture(states, **facts)
    selected = chosen(picture, *named)
    return plan_redrive(picture, edges, selected, changes or Changes(), now_ms=NOW_MS)


def waits(plan: RedrivePlan) -> dict[str, set[str]]:
    return {one.task_id: set(one.waiting_on) for one in plan.waiting}


def test_what_follows_waits_and_what_was_selected_is_ready() -> None:
    plan = a_plan(STATES, EDGES)
    assert [one.task_id for one in plan.ready] == ["b"]
    assert waits(plan) == {END: {"c@2", "d@2"}, "c": {"b@2"}, "d": {"b@2"}}
    assert plan.waiting[0].task_id == END
    assert (plan.relays, plan.edges) == ({}, {})


def test_nobody_comes_before_those_that_wait_for_it() -> None:
    chain = {f"t{n}": (f"t{n + 1}",) for n in range(9)} | {"t9": (END,)}
    plan = a_plan(dict.fromkeys(chain, FAILED), chain, "t0")
    assert [one.task_id for one in plan.waiting] == [END, *[f"t{n}" for n in range(9, 0, -1)]]


def test_a_completed_task_stays_completed_and_ends_the_walk() -> None:
    states = {"a": FAILED, "b": COMPLETED, "c": FAILED}
    plan = a_plan(states, {"a": ("b",), "b": ("c",), "c": (END,)}, "a")
    assert waits(plan) == {END: {"a@2"}}
    assert plan.edges == {"a": NewEdges(before=("b",), added=(END,))}


def test_selected_tasks_wait_for_each_other() -> None:
    plan = a_plan(STATES, EDGES, "b", "c")
    assert [one.task_id for one in plan.ready] == ["b"]
    assert waits(plan)["c"] == {"b@2"}


def test_tokens_name_the_next_run_of_each_parent() -> None:
    plan = a_plan(STATES, EDGES, run=7)
    assert waits(plan)["c"] == {"b@8"}
    assert {(one.run, one.fence) for one in plan.ready} == {(7, 5)}


def test_reopened_parents_are_no_longer_missed() -> None:
    plan = a_plan(STATES, EDGES, not_completed=frozenset({"b", "elsewhere"}))
    missed = {one.task_id: set(one.not_completed) for one in plan.waiting if one.task_id != END}
    assert missed == {"c": {"elsewhere"}, "d": {"elsewhere"}}


@pytest.mark.parametrize("many", [MAX_NAMES, MAX_NAMES + 1, 10_000])
def test_the_end_never_waits_for_more_than_it_may_name(many: int) -> None:
    failed = {f"a{n}": FAILED for n in range(many)}
    edges = dict.fromkeys(failed, ("done",)) | {"done": (END,)}
    plan = a_plan(failed | {"done": COMPLETED}, edges)
    tokens = [*plan.relays.values(), plan.waiting[0].waiting_on]
    assert max(map(len, tokens)) <= MAX_NAMES
    assert bool(plan.relays) == (many > MAX_NAMES)
    waited_for = {token for some in tokens for token in some}
    assert waited_for >= {f"{name}@2" for name in failed}
    assert set(plan.relays) == {t.removesuffix("@1") for t in waited_for if "@1" in t}
    assert all(name.startswith("__relay-r1-") for name in plan.relays)
    assert set(plan.edges) == failed.keys() | plan.relays.keys()
    assert all(edges.before == ("done",) for name, edges in plan.edges.items() if name in failed)


def test_changes_go_to_those_that_were_selected_over_those_before() -> None:
    earlier = Overrides(model="claude-haiku", max_turns=3)
    changes = Changes(overrides=Overrides(max_turns=9), inputs={"b": 1})
    plan = a_plan(STATES, EDGES, "b", changes=changes, overrides=earlier)
    [ready] = plan.ready
    assert ready.overrides == Overrides(model="claude-haiku", max_turns=9)
    assert {one.overrides for one in plan.waiting if one.task_id != END} == {earlier}
    assert plan.inputs == {"b": 1}


def test_without_names_what_was_skipped_is_not_selected() -> None:
    assert [task.ref.task_id for task in chosen(a_picture(STATES))] == ["b"]
    assert [task.ref.task_id for task in chosen(a_picture(STATES), "c")] == ["c"]


@pytest.mark.parametrize(
    ("states", "named", "reason"),
    [
        ({"a": COMPLETED, "b": SKIPPED}, (), "nothing to redrive"),
        (STATES, ("a", "b"), "not a (completed)"),
    ],
)
def test_nothing_else_is_redriven(
    states: dict[str, TaskState], named: tuple[str, ...], reason: str
) -> None:
    found = select(a_picture(states), named)
    assert isinstance(found, NotRedrivable)
    assert reason in found.reason


def test_a_plan_is_stored_and_read_back_whole() -> None:
    changes = Changes(overrides=Overrides(model="m", max_cost_usd=0.5), inputs={"b": {"x": None}})
    plan = a_plan(STATES, EDGES, "b", changes=changes, not_completed=frozenset({"y"}))
    document = stored_plan(plan)
    assert read_plan(document) == plan
    key = plan_key(JOB, plan, document)
    assert key.startswith(f"task/redrives/{JOB.tenant}/{JOB.job_id}/1-")
    assert key != plan_key(JOB, plan, document + b" ")
