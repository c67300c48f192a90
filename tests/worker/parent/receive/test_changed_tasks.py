"""What a cancellation or a redrive changed, as a worker sees it."""

import json
from dataclasses import replace

import pytest

from switchyard.contracts.definitions.steps import StepDefinition
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Overrides
from switchyard_worker.boundary import Assignment
from switchyard_worker.parent.attempts.assignments import Defaults, Order, planned
from tests.builders import a_definition, a_plan
from tests.worker.harness import WorkerHarness

LONG = {"offline": {"delayMs": 60_000}}
DEFAULTS = Defaults(model="claude-default", timeout_ms=300_000, step_timeout_ms=120_000)
DEFINED = a_definition(model="claude-sonnet", max_turns=5, timeout=50_000, max_cost_usd=1.0)
STEPPED = a_definition(
    steps=(
        StepDefinition(name="one", description="First.", max_turns=3, timeout=2_000),
        StepDefinition(name="two", description="Then."),
    )
)
ALL = Overrides(model="claude-opus", max_turns=40, timeout_ms=90_000, max_cost_usd=2.5)


def assigned(definition: object, overrides: Overrides) -> Assignment:
    order = Order(request_id="r", attempt=1, input=None, context={}, overrides=overrides)
    return planned(definition, order, DEFAULTS, backend="offline")  # type: ignore[arg-type]


def test_without_overrides_a_task_is_as_defined() -> None:
    assignment = assigned(DEFINED, Overrides())
    assert (assignment.model, assignment.max_turns) == ("claude-sonnet", 5)
    assert (assignment.timeout_ms, assignment.max_cost_usd) == (50_000, 1.0)
    one, two = assigned(STEPPED, Overrides()).steps
    assert ((one.max_turns, one.timeout_ms), (two.max_turns, two.timeout_ms)) == (
        (3, 2_000),
        (10, 120_000),
    )


def test_what_a_redrive_asked_for_counts_instead() -> None:
    assignment = assigned(DEFINED, ALL)
    assert (assignment.model, assignment.max_turns) == ("claude-opus", 40)
    assert (assignment.timeout_ms, assignment.max_cost_usd) == (90_000, 2.5)


def test_one_override_leaves_the_rest_as_defined() -> None:
    assignment = assigned(DEFINED, Overrides(max_turns=7))
    assert (assignment.model, assignment.max_turns, assignment.timeout_ms) == (
        "claude-sonnet",
        7,
        50_000,
    )


def test_limits_that_a_redrive_asked_for_are_each_steps_too() -> None:
    steps = assigned(STEPPED, ALL).steps
    assert {(step.max_turns, step.timeout_ms) for step in steps} == {(40, 90_000)}


def test_the_child_is_told_what_a_redrive_asked_for(harness: WorkerHarness) -> None:
    harness.add_task(definition={"model": "claude-sonnet"}, overrides=ALL)

    harness.work(until=harness.quiet)

    (file,) = harness.folder.rglob("task.json")
    emitted = json.loads(file.read_text())
    assert (emitted["model"], emitted["max_turns"], emitted["timeout_ms"]) == (
        "claude-opus",
        40,
        90_000,
    )


def test_a_running_task_that_is_cancelled_stops_and_settles(harness: WorkerHarness) -> None:
    harness.add_task(given=LONG)

    def cancelled() -> bool:
        if harness.emitted == ["Task Processing Started"]:
            harness.memory.cancelling.cancel(harness.task(), now_ms=0)
        return harness.quiet()

    harness.work(until=cancelled)

    assert harness.task().state is TaskState.CANCELLED
    assert harness.emitted == ["Task Processing Started", "Task Cancelled"]


@pytest.mark.parametrize("state", [TaskState.READY, TaskState.QUEUED])
def test_a_task_that_was_cancelled_before_its_wake_up_came_is_not_run(
    harness: WorkerHarness, state: TaskState
) -> None:
    harness.add_task(state=state)
    harness.memory.cancelling.cancel(harness.task(), now_ms=0)

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.CANCELLED
    assert harness.emitted == ["Task Cancelled"]


def test_a_task_whose_job_is_being_cancelled_is_settled_and_not_started(
    harness: WorkerHarness,
) -> None:
    ref = harness.add_task(given=LONG)
    job = replace(a_plan().job, ref=ref.job, state=JobState.OPEN)
    harness.memory.state.jobs[ref.job] = job
    assert harness.memory.cancelling.begin(job, now_ms=0)

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.CANCELLED
    assert harness.emitted == ["Task Cancelled"]


def test_a_flagged_task_whose_worker_died_is_settled_by_whoever_receives_it(
    harness: WorkerHarness,
) -> None:
    harness.add_task(state=TaskState.PROCESSING, owner="dead", fence=3, attempt=1, lease_until_ms=1)
    harness.memory.cancelling.cancel(harness.task(), now_ms=0)
    assert harness.task().state is TaskState.PROCESSING

    harness.work(until=harness.quiet)

    assert (harness.task().state, harness.task().fence) == (TaskState.CANCELLED, 4)
    assert harness.emitted == ["Task Cancelled"]
