"""Conditions and the rules that count: what they let run, skip or fail."""

from typing import Any

import pytest

from switchyard.contracts.jobs import AddTasks
from switchyard.domain.errors import InvalidJob
from switchyard.domain.states import JobState, TaskState
from tests.fakes.harnesses.held_harness import WORKER, HeldHarness
from tests.fakes.harnesses.job_harness import FAILED


@pytest.fixture
def harness() -> HeldHarness:
    return HeldHarness()


def after(*parents: str, **more: Any) -> dict[str, Any]:
    return {**WORKER, "dependsOn": [*parents], **more}


def reason(harness: HeldHarness, task_id: str) -> str:
    outcome = harness.task(task_id).outcome
    return (outcome.error if outcome else None) or ""


def test_a_condition_that_holds_lets_its_task_run(harness: HeldHarness) -> None:
    condition = '${tasks.triage.output.severity} == "high"'
    harness.begin(triage=WORKER, page=after("triage", when=condition))
    harness.queued()
    harness.complete("triage", {"severity": "high"})
    assert harness.queued() == {"page"}


def test_a_condition_that_does_not_hold_skips_its_task_and_says_why(harness: HeldHarness) -> None:
    condition = '${tasks.triage.output.severity} == "high"'
    harness.begin(
        triage=WORKER,
        page=after("triage", when=condition),
        report=after("page", rule="all_settled"),
    )
    harness.complete("triage", {"severity": "low"})
    assert harness.state("page") is TaskState.SKIPPED
    assert '"low"' in reason(harness, "page")
    assert "severity" in reason(harness, "page")
    assert harness.queued() == {"triage", "report"}


def test_a_condition_that_cannot_be_judged_fails_its_task(harness: HeldHarness) -> None:
    harness.begin(triage=WORKER, page=after("triage", when="${tasks.triage.output.level} > 3"))
    harness.complete("triage", {})
    assert harness.state("page") is TaskState.FAILED
    assert "has no member 'level'" in reason(harness, "page")
    assert harness.job_state() is JobState.FAILED
    assert harness.emitted()["Job Failure Detected"] == 1
    assert harness.emitted()["Task Failed"] == 1


def test_outputs_that_are_too_large_for_a_condition_fail_its_task(harness: HeldHarness) -> None:
    harness.begin(triage=WORKER, page=after("triage", when="exists ${tasks.triage.output.level}"))
    harness.complete("triage", {"level": "x" * 1_000_001})
    assert harness.state("page") is TaskState.FAILED
    assert "more than 1,000,000 bytes" in reason(harness, "page")


def test_what_may_be_missing_is_asked_for_first(harness: HeldHarness) -> None:
    condition = "exists ${tasks.triage.output.level} and ${tasks.triage.output.level} > 3"
    harness.begin(triage=WORKER, page=after("triage", when=condition))
    harness.complete("triage", {})
    assert harness.state("page") is TaskState.SKIPPED


def test_the_rule_comes_before_the_condition(harness: HeldHarness) -> None:
    harness.begin(triage=WORKER, page=after("triage", when="${tasks.triage.output} == 1"))
    harness.complete("triage", None, FAILED)
    assert harness.state("page") is TaskState.SKIPPED
    assert reason(harness, "page") == "did not complete: triage"


@pytest.mark.parametrize(
    ("rule", "a", "b", "runs"),
    [
        ("any_completed", True, False, True),
        ("any_completed", False, False, False),
        ("any_completed", True, True, True),
        ("none_failed", True, True, True),
        ("none_failed", True, False, False),
    ],
)
def test_rules_that_count(harness: HeldHarness, rule: str, a: bool, b: bool, runs: bool) -> None:
    harness.begin(a=WORKER, b=WORKER, c=after("a", "b", rule=rule))
    harness.queued()
    for name, completes in (("a", a), ("b", b)):
        if completes:
            harness.complete(name, 1)
        else:
            harness.complete(name, None, FAILED)
    assert harness.queued() == ({"c"} if runs else set())


def test_none_failed_holds_if_a_parent_was_skipped(harness: HeldHarness) -> None:
    harness.begin(
        a=WORKER, b=after("a", when="${tasks.a.output} == 2"), c=after("b", rule="none_failed")
    )
    harness.queued()
    harness.complete("a", 1)
    assert harness.state("b") is TaskState.SKIPPED
    assert harness.queued() == {"c"}


@pytest.mark.parametrize("completed", [0, 1, 150])
def test_any_completed_sees_through_relays(harness: HeldHarness, completed: int) -> None:
    names = [f"t{number}" for number in range(150)]
    tasks: dict[str, Any] = dict.fromkeys(names, WORKER)
    harness.begin(**tasks, end=after(*names, rule="any_completed"))
    for number, name in enumerate(names):
        if number < completed:
            harness.complete(name, 1)
        else:
            harness.complete(name, None, FAILED)
    harness.work_off()
    expected = TaskState.QUEUED if completed else TaskState.SKIPPED
    assert harness.state("end") is expected


def test_a_mistake_in_a_condition_is_found_when_the_job_is_submitted(harness: HeldHarness) -> None:
    with pytest.raises(ValueError, match="column 25"):
        harness.begin(a=WORKER, b=after("a", when="${tasks.a.output.level} = 3"))
    with pytest.raises(InvalidJob, match="names 'c', which does not exist"):
        harness.begin(a=WORKER, b=after("a", when="${tasks.c.output} == 3"))
    with pytest.raises(InvalidJob, match="on which 'b' does not depend"):
        harness.begin(a=WORKER, b={**WORKER, "when": "${tasks.a.output} == 3"})


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({}, "is required; only an approval, a wait or a signal has none"),
        ({"kind": "approval", "name": "scrape"}, "has kind approval and name"),
        ({"kind": "wait"}, "a wait needs either for, like 2h, or until"),
        ({"kind": "wait", "for": "2x"}, "no span like 90s, 15m, 2h or 1d"),
        ({"kind": "wait", "for": "400d"}, "must be from 1s to 366d"),
        ({"kind": "signal", "onReject": "fail"}, "onReject belongs to an approval"),
        ({"name": "scrape", "for": "1h"}, "for belongs to a wait"),
        ({"kind": "approval", "valueSchema": {"pattern": "a"}}, "has 'pattern'; a schema here"),
        ({"kind": "approval", "timeout": 3}, "must be from 1s to 366d"),
    ],
)
def test_what_is_wrong_with_a_held_task_is_said(task: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        AddTasks.model_validate({"tasks": [{"taskId": "a", **task}]})
