"""A fan-out that is run again makes its items anew, of the list as it is then."""

from typing import Any

import pytest

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.errors import Conflict
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import edge_token
from tests.fakes.harnesses.fan_out_harness import FanOutHarness
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing

COMPLETED, SKIPPED, WAITING = TaskState.COMPLETED, TaskState.SKIPPED, TaskState.WAITING


@pytest.fixture
def harness() -> FanOutHarness:
    """All of it has completed."""
    harness = FanOutHarness()
    harness.fan_out(("a", "b", "c"), key="${item}")
    settle_items(harness)
    harness.complete("sum", "first")
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    return harness


def settle_items(harness: FanOutHarness) -> None:
    for name in list(harness.states()):
        if "[" in name and not harness.state(name).settled:
            harness.complete(name, f"{name}@{harness.task(name).run}")


def again(harness: FanOutHarness, *names: str) -> None:
    harness.redrive(from_=names)
    harness.deliver()


def test_the_items_of_the_new_list_take_the_place_of_the_old_ones(harness: FanOutHarness) -> None:
    again(harness, "list")
    assert harness.states() == {"list": TaskState.QUEUED, "review": WAITING, "sum": WAITING}
    assert harness.the_job().total_tasks == 3
    harness.complete("list", {"items": ["c", "d", "a"]})
    assert harness.the_job().total_tasks == 6
    assert harness.states() == {
        "list": COMPLETED,
        "review": WAITING,
        "review[a]": TaskState.QUEUED,
        "review[b]": SKIPPED,
        "review[c]": TaskState.QUEUED,
        "review[d]": TaskState.QUEUED,
        "sum": WAITING,
    }
    assert harness.error("review[b]") == "the list has no such item any more"
    assert harness.task("review[b]").due_at_ms is None
    assert harness.input("review[a]") == {"file": "a", "number": 2}
    assert harness.output("review[a]") is None
    settle_items(harness)
    assert harness.output() == ["review[c]@2", "review[d]@2", "review[a]@2"]
    harness.complete("sum", "second")
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    assert all(task.due_at_ms is None for task in harness.memory.state.tasks.values())
    assert set(harness.runs().values()) == {2}


def test_an_item_runs_once_whatever_its_runs_were_before(harness: FanOutHarness) -> None:
    again(harness, "review[b]")
    harness.complete("review[b]", "again")
    harness.complete("sum", "second")
    harness.deliver()
    assert harness.output() == ["review[a]@1", "again", "review[c]@1"]
    again(harness, "review")
    assert {harness.task(f"review[{key}]").run for key in "abc"} == {3}
    settle_items(harness)
    assert harness.output() == [f"review[{key}]@3" for key in "abc"]


def test_an_empty_list_leaves_only_skipped_items(harness: FanOutHarness) -> None:
    again(harness, "list")
    harness.complete("list", {"items": []})
    assert harness.output() == []
    states = harness.states()
    assert {states[f"review[{key}]"] for key in "abc"} == {SKIPPED}
    assert states["review"] is COMPLETED
    harness.complete("sum", "second")
    harness.deliver()
    assert harness.the_job().total_tasks == 3
    assert harness.job_state() is JobState.COMPLETED


def test_an_item_that_left_the_list_comes_back_with_it(harness: FanOutHarness) -> None:
    again(harness, "list")
    harness.complete("list", {"items": ["a"]})
    settle_items(harness)
    harness.complete("sum", "second")
    harness.deliver()
    again(harness, "list")
    harness.complete("list", {"items": ["b"]})
    assert harness.state("review[b]") is TaskState.QUEUED
    settle_items(harness)
    assert harness.output() == ["review[b]@3"]


@pytest.mark.parametrize("asked", [{"tasks": ["review[c]"]}, {"from": ["review[c]"]}])
def test_what_left_the_list_is_not_redriven(harness: FanOutHarness, asked: Any) -> None:
    again(harness, "list")
    harness.complete("list", {"items": ["a", "b"]})
    harness.complete("review[a]", 1, FAILED)
    harness.complete("review[b]", 1)
    harness.deliver()
    request = RedriveJob.model_validate(asked)
    with pytest.raises(Conflict, match=r"cannot run: the list has no such item any more"):
        harness.redrives.request_redrive(harness.job, request)
    harness.redrive("review")
    harness.deliver()
    assert harness.state("review[c]") is SKIPPED
    assert harness.state("review[a]") is TaskState.QUEUED


def test_a_list_that_cannot_be_used_shows_no_items(harness: FanOutHarness) -> None:
    again(harness, "list")
    harness.complete("list", {"items": "none"})
    harness.deliver()
    assert harness.states() == {"list": COMPLETED, "review": TaskState.FAILED, "sum": SKIPPED}
    again(harness, "list")
    harness.complete("list", {"items": ["b"]})
    settle_items(harness)
    assert harness.output() == ["review[b]@3"]


def test_late_wake_ups_of_old_items_change_nothing(harness: FanOutHarness) -> None:
    again(harness, "list")
    before = dict(harness.memory.state.tasks)
    for key in "abc":
        harness.wake(f"review[{key}]", by_event=False)
    harness.deliver()
    assert harness.memory.state.tasks == before


def test_an_item_that_runs_is_not_replaced(harness: FanOutHarness) -> None:
    again(harness, "list")
    harness.complete("list", {"items": ["a", "b"]})
    claimed = harness.claim("review[a]")
    old = harness.memory.fan_outs
    item = harness.task("review[a]")
    old.replace(item, harness.memory.payloads.read(item.ref), ("review",))
    assert old.drop(item.ref, items_run=2, now_ms=1) is None
    assert harness.task("review[a]") == claimed.task


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "step", ["note_expanded", "write_part", "replace", "drop", "open", "clear_due"]
)
def test_a_crash_anywhere_loses_and_mixes_nothing(
    harness: FanOutHarness, step: str, *, after: bool
) -> None:
    again(harness, "list")
    memory = harness.memory
    owner: Any = {"write_part": memory.intake, "clear_due": memory.graph}.get(step, memory.fan_outs)
    original = getattr(owner, step)
    setattr(owner, step, crashing(original, after=after))
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["c", "d"]})
    setattr(owner, step, original)
    for name in ("list", "review", "__fan-review[~r2]"):
        if memory.graph.find(harness.job.task(name)):
            harness.wake(name, by_event=False)
            harness.work_off()
    harness.deliver()
    settle_items(harness)
    harness.wake("review", by_event=False)
    harness.deliver()
    assert harness.output() == ["review[c]@2", "review[d]@2"]
    assert harness.the_job().total_tasks == 5
    harness.complete("sum", "second")
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    assert {harness.state(f"review[{key}]") for key in "ab"} == {SKIPPED}


def test_many_items_are_replaced_with_relays_of_their_own() -> None:
    harness = FanOutHarness()
    harness.fan_out(tuple(range(120)))
    settle_items(harness)
    harness.complete("sum", "first")
    harness.deliver()
    again(harness, "list")
    harness.complete("list", {"items": list(range(130))})
    relay = harness.memory.state.dependents[harness.job.task("review[7]")]
    assert relay[0].startswith("__fan-review[~r2][")
    assert edge_token("review[7]", 2) in harness.task(relay[0]).waiting_on
    settle_items(harness)
    assert harness.output() == [f"review[{number}]@2" for number in range(130)]


def test_a_job_that_is_cancelled_while_items_are_replaced_goes_on_with_the_same(
    harness: FanOutHarness,
) -> None:
    again(harness, "list")
    original = harness.memory.fan_outs.replace
    harness.memory.fan_outs.replace = crashing(original, after=True)  # type: ignore[assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["c", "a"]})
    harness.memory.fan_outs.replace = original  # type: ignore[method-assign]
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
    harness.redrive()
    harness.deliver()
    settle_items(harness)
    assert harness.output() == ["review[c]@2", "review[a]@2"]


def test_what_one_invocation_has_no_time_for_is_left_to_the_next(
    harness: FanOutHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.usecases.dispatching.earlier_items.AT_A_TIME", 1)
    again(harness, "list")
    fan_outs = harness.memory.fan_outs
    original = fan_outs.note_expanded
    fan_outs.note_expanded = crashing(original, after=False)  # type: ignore[method-assign,assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["c", "d"]})
    fan_outs.note_expanded = original  # type: ignore[method-assign]
    invocations = 0
    while harness.task("review").child_count is None:
        harness.fan_outs.go_on(harness.task("review"), until=-1.0)
        invocations += 1
    assert invocations == 3
    assert {harness.task(f"review[{key}]").run for key in "abcd"} == {2}


def test_too_many_items_of_earlier_lists_fail_the_fan_out(
    harness: FanOutHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.usecases.dispatching.earlier_items.MAX_WITH_ITEMS", 7)
    again(harness, "list")
    harness.complete("list", {"items": ["d", "e"]})
    assert harness.state("review") is TaskState.FAILED
    assert (
        "with these 2 tasks and those that earlier runs made the job has 8 tasks" in harness.error()
    )
