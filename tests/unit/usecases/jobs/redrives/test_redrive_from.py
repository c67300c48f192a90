"""Running completed tasks again, with everything that used what they made."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.changes import MAX_NAMED, RedriveAccepted
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import Conflict, Invalid, UnknownTask
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, Usage
from tests.builders import TENANT, a_definition
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.fan_out_harness import FanOutHarness
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing

COMPLETED, QUEUED, WAITING = TaskState.COMPLETED, TaskState.QUEUED, TaskState.WAITING
GRAPH: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"]}
PAID = Outcome(state=COMPLETED, exit_code=0, usage=Usage(cost_usd=0.25))


@pytest.fixture
def harness() -> ChangedHarness:
    """All of it has completed, but for `x`, which failed, and `y`, which was skipped for it."""
    harness = ChangedHarness()
    harness.start(GRAPH)
    for name in ("a", "b", "c"):
        harness.settle(name, PAID)
    harness.settle("x", FAILED)
    harness.deliver()
    assert harness.job_state() is JobState.FAILED
    return harness


def again(harness: ChangedHarness, *names: str, **asked: Any) -> RedriveAccepted:
    answer = harness.redrive(from_=names, **asked)
    harness.deliver()
    return answer


def test_a_completed_task_runs_again_with_all_that_follows_and_nothing_else(
    harness: ChangedHarness,
) -> None:
    before = {name: harness.task(name) for name in ("a", "x", "y")}
    answer = again(harness, "b")
    assert (answer.ready_tasks, answer.reopened_tasks, answer.stale_tasks) == (("b",), 2, ())
    assert (harness.state("b"), harness.state("c")) == (QUEUED, WAITING)
    assert harness.task("b").attempt == 0
    assert {name: harness.task(name) for name in before} == before
    assert harness.memory.payloads.outputs(harness.job, ["a", "b", "c"]).keys() == {"a"}
    assert harness.memory.payloads.read(harness.job.task("c")).output is None
    harness.settle("b")
    harness.settle("c")
    harness.deliver()
    assert harness.runs() == {"a": 1, "b": 2, "c": 2, "x": 1, "y": 1}
    assert harness.job_state() is JobState.FAILED


def test_with_tasks_both_are_run(harness: ChangedHarness) -> None:
    harness.redrive("x", from_=("c",))
    harness.deliver()
    for name in ("c", "x", "y"):
        harness.settle(name)
    harness.deliver()
    assert harness.runs() == {"a": 1, "b": 1, "c": 2, "x": 2, "y": 2}
    assert harness.job_state() is JobState.COMPLETED


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_task_in_any_state_may_be_the_first(harness: ChangedHarness, name: str) -> None:
    again(harness, name)
    assert harness.state(name) is QUEUED


def test_what_follows_is_decided_anew(harness: ChangedHarness) -> None:
    again(harness, "a")
    harness.settle("a", FAILED)
    harness.deliver()
    assert {harness.state(name) for name in ("b", "c")} == {TaskState.SKIPPED}


def test_late_messages_of_the_old_run_change_nothing(harness: ChangedHarness) -> None:
    old = [harness.run_of(name) for name in ("a", "b")]
    again(harness, "a")
    before = dict(harness.memory.state.tasks)
    for by_event in (True, False):
        harness.dispatcher.dispatch(old, until=harness.until, woken_by_event=by_event)
    harness.deliver()
    assert harness.memory.state.tasks == before


def test_a_dry_run_says_what_it_would_run_and_changes_nothing(harness: ChangedHarness) -> None:
    before = (harness.the_job(), dict(harness.memory.state.tasks))
    answer = again(harness, "b", dry_run=True)
    assert (answer.status, answer.run, answer.cost_usd) == ("planned", 2, 0.5)
    assert [(one.task_id, one.status, one.at_once) for one in answer.planned_tasks] == [
        ("b", "completed", True),
        ("c", "completed", False),
    ]
    assert [one.cost_usd for one in answer.planned_tasks] == [0.25, 0.25]
    assert (harness.the_job(), dict(harness.memory.state.tasks)) == before
    assert harness.redrive(from_=("b",)).planned_tasks == ()


def test_what_was_shown_is_run_or_nothing(harness: ChangedHarness) -> None:
    again(harness, "c")
    harness.settle("c")
    harness.deliver()
    with pytest.raises(Conflict, match="that was run 1"):
        harness.redrive(from_=("b",), run=1)
    assert harness.redrive(from_=("b",), run=2).run == 3


def test_an_unknown_task_is_refused(harness: ChangedHarness) -> None:
    with pytest.raises(UnknownTask):
        harness.redrive(from_=("z",))


def test_completed_tasks_that_used_the_old_output_are_named() -> None:
    harness = ChangedHarness()
    harness.start({"a": [], "b": ["a"], "c": ["b"]}, b=Rule.ALL_SETTLED)
    harness.settle("a", FAILED)
    harness.settle("b")
    harness.settle("c")
    harness.deliver()
    assert harness.redrive().stale_tasks == ("b", "c")


def test_of_many_stale_tasks_the_first_are_named() -> None:
    harness = ChangedHarness()
    many = {f"t{n}": ["a"] for n in range(MAX_NAMED + 5)}
    harness.start({"a": [], **many}, **dict.fromkeys(many, Rule.ALL_SETTLED))
    harness.settle("a", FAILED)
    for name in many:
        harness.settle(name)
    harness.deliver()
    assert len(harness.redrive(dry_run=True).stale_tasks) == MAX_NAMED


def test_a_redriven_item_names_what_used_the_gathered_output() -> None:
    harness = FanOutHarness()
    harness.fan_out(tolerate=1)
    harness.complete("review[0]", 0, FAILED)
    for number in (1, 2):
        harness.complete(f"review[{number}]", number)
    harness.complete("sum", "first")
    harness.deliver()
    assert harness.redrive("review[0]", dry_run=True).stale_tasks == ("sum",)
    answer = harness.redrive(from_=("review[0]",))
    assert (answer.stale_tasks, answer.ready_tasks) == ((), ("review[0]",))
    harness.deliver()
    harness.complete("review[0]", "again")
    assert harness.output() == ["again", 1, 2]
    assert harness.runs()["review[1]"] == 1
    assert harness.state("sum") is QUEUED


def test_a_fan_out_that_is_run_again_costs_what_its_items_cost() -> None:
    harness = FanOutHarness()
    harness.fan_out(("a", "b"))
    for number in range(2):
        harness.complete(f"review[{number}]", number, PAID)
    harness.complete("sum", "first", PAID)
    harness.deliver()
    [review, after] = harness.redrive(from_=("review",), dry_run=True).planned_tasks
    assert (review.task_id, review.items, review.cost_usd) == ("review", 2, 0.5)
    assert (after.task_id, after.items, after.cost_usd) == ("sum", None, 0.25)


def test_a_fan_out_that_is_run_again_may_be_given_another_input() -> None:
    harness = FanOutHarness()
    harness.fan_out(("a",))
    harness.complete("review[0]", 0)
    harness.complete("sum", "first")
    harness.deliver()
    harness.redrive(from_=("review",), input={"other": "${item}"})
    harness.deliver()
    assert harness.input("review[0]") == {"other": "a"}


def test_an_input_is_that_of_one_task(harness: ChangedHarness) -> None:
    with pytest.raises(Invalid, match="name exactly one in tasks or from"):
        harness.redrive("x", from_=("b",), input=1)


def test_a_newer_version_of_a_definition_is_named_and_run_if_asked_for(
    harness: ChangedHarness,
) -> None:
    harness.memory.definitions.put(
        TENANT, "scrape", a_definition(description="Better.", retry={"maxAttempts": 2})
    )
    [older] = harness.redrive("x", dry_run=True).older_versions
    assert (older.task_id, older.definition, older.version, older.latest) == ("x", "scrape", 1, 2)
    assert harness.redrive("x", latest=True).older_versions == ()
    harness.deliver()
    assert (harness.task("x").definition_version, harness.task("x").max_attempts) == (2, 2)
    assert harness.task("y").definition_version == 1


def test_the_latest_version_has_to_be_allowed_and_to_exist(harness: ChangedHarness) -> None:
    harness.memory.definitions.put(TENANT, "scrape", a_definition(max_cost_usd=50))
    strict = replace(harness.redrives, ceilings=Ceilings(max_cost_usd=10))
    harness.redrives = strict
    with pytest.raises(Invalid, match="latest: definition 'scrape'"):
        harness.redrive("x", latest=True)
    assert harness.redrive("x", dry_run=True).older_versions
    harness.memory.definitions.delete(TENANT, "scrape", now_ms=1)
    with pytest.raises(Invalid, match="'scrape' was deleted"):
        harness.redrive("x", latest=True)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["prepare", "reopen", "note", "open", "end"])
def test_a_crash_at_any_step_is_rolled_forward(
    harness: ChangedHarness, step: str, *, after: bool
) -> None:
    original = getattr(harness.memory.redriving, step)
    setattr(harness.memory.redriving, step, crashing(original, after=after))
    harness.redrive("x", from_=("a",))
    if step == "prepare":
        harness.deliver()  # no edge is new
    else:
        with pytest.raises(Crash):
            harness.deliver()
    setattr(harness.memory.redriving, step, original)
    harness.advancer.advance(harness.job, until=harness.until)
    harness.deliver()
    for name in GRAPH:
        harness.settle(name)
    harness.deliver()
    assert set(harness.runs().values()) == {2}
    assert harness.job_state() is JobState.COMPLETED
