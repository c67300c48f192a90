"""Held tasks: nobody runs them, one decision counts, and time ends what nobody decides."""

from typing import Any

import pytest

from switchyard.contracts.events import TaskHeld
from switchyard.domain.errors import Conflict, InvalidDecision, UnknownTask
from switchyard.domain.jobs.overdue import Action
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.holds import LONGEST_MS
from tests.fakes.harnesses.held_harness import WORKER, HeldHarness
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.harnesses.swept_harness import actions

DAY = 24 * 60 * 60
APPROVAL = {"kind": "approval", "question": "Publish it?", "dependsOn": ["write"]}
AFTER: dict[str, Any] = {**WORKER, "dependsOn": ["gate"]}
WANTED = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}


@pytest.fixture
def harness() -> HeldHarness:
    return HeldHarness()


def held(harness: HeldHarness, **gate: Any) -> HeldHarness:
    """A job whose approval waits for a decision."""
    harness.begin(write=WORKER, gate={**APPROVAL, **gate}, publish=AFTER)
    harness.complete("write", {"title": "Draft"})
    assert harness.state("gate") is TaskState.HELD
    harness.queued()
    return harness


def test_no_worker_is_woken_for_an_approval_and_its_event_says_what_is_asked(
    harness: HeldHarness,
) -> None:
    harness.begin(gate={"kind": "approval", "question": "Begin?"}, publish=AFTER)
    assert harness.queued() == set()
    (event,) = [e for e in harness.memory.bus.events if e.event_type == "Task Held"]
    assert isinstance(event.properties, TaskHeld)
    assert event.properties.question == "Begin?"
    assert harness.task("gate").attempt == 0


def test_an_approval_lets_what_follows_run_and_says_who_approved(harness: HeldHarness) -> None:
    held(harness)
    decided = harness.decide("gate", comment="fine", decided_by="ann")
    assert decided.status == "completed"
    assert decided.output["approved"] is True
    assert (decided.output["by"], decided.output["comment"]) == ("ann (key k1)", "fine")
    assert harness.queued() == {"publish"}
    assert harness.emitted()["Task Completed"] == 1


def test_a_rejection_completes_the_task_and_a_condition_can_ask_for_it(
    harness: HeldHarness,
) -> None:
    only_if = {**AFTER, "when": "${tasks.gate.output.approved}"}
    harness.begin(gate={"kind": "approval"}, publish=only_if)
    harness.decide("gate", approved=False, comment="too early")
    assert harness.state("gate") is TaskState.COMPLETED
    assert harness.state("publish") is TaskState.SKIPPED
    assert harness.job_state() is JobState.COMPLETED


def test_a_rejection_fails_the_task_where_its_job_says_so(harness: HeldHarness) -> None:
    held(harness, onReject="fail")
    harness.decide("gate", approved=False, comment="no")
    outcome = harness.task("gate").outcome
    assert outcome is not None
    assert outcome.error == "rejected by key k1: no"
    assert harness.job_state() is JobState.FAILED
    assert harness.emitted()["Job Failure Detected"] == 1


def test_a_second_decision_is_refused_and_the_same_request_is_answered_again(
    harness: HeldHarness,
) -> None:
    held(harness)
    basis = harness.view("gate").basis
    first = harness.decide("gate", request_id="r1", basis=basis)
    again = harness.decide("gate", request_id="r1", basis=basis)
    assert (again.output, again.repeated) == (first.output, True)
    with pytest.raises(Conflict, match="was ended by a decision already: it is completed"):
        harness.decide("gate", approved=False, basis=basis)
    assert harness.emitted()["Task Completed"] == 1


def test_a_decision_on_something_else_is_refused(harness: HeldHarness) -> None:
    held(harness)
    with pytest.raises(Conflict, match="has changed since it was read: look at it again"):
        harness.decide("gate", basis="0" * 16)
    assert harness.state("gate") is TaskState.HELD


def test_an_edited_value_is_given_on_if_it_fits(harness: HeldHarness) -> None:
    held(harness, valueSchema=WANTED)
    with pytest.raises(InvalidDecision, match="value: does not match its schema"):
        harness.decide("gate", value={"name": "?"})
    assert harness.state("gate") is TaskState.HELD
    assert harness.decide("gate", value={"title": "Better"}).output["value"] == {"title": "Better"}


@pytest.mark.parametrize(
    ("on_timeout", "state", "approved"),
    [
        ("fail", TaskState.FAILED, None),
        ("approve", TaskState.COMPLETED, True),
        ("reject", TaskState.COMPLETED, False),
    ],
)
def test_what_nobody_decides_ends_by_itself(
    harness: HeldHarness, on_timeout: str, state: TaskState, approved: bool | None
) -> None:
    held(harness, timeout="2d", onTimeout=on_timeout)
    assert actions(harness.sweep(after=2 * DAY - 1)).get("gate") is None
    assert actions(harness.sweep(after=1))["gate"] is Action.END_HOLD
    assert harness.state("gate") is state
    if approved is not None:
        assert harness.output("gate")["approved"] is approved
    with pytest.raises(Conflict, match="was ended already"):
        harness.decide("gate")


def test_a_decision_after_the_time_is_refused_before_anybody_ended_the_task(
    harness: HeldHarness,
) -> None:
    held(harness, timeout="1h")
    harness.clock.advance(3600)
    with pytest.raises(Conflict, match="the time for gate was over at"):
        harness.decide("gate")


def test_without_a_timeout_a_year_is_the_longest(harness: HeldHarness) -> None:
    held(harness)
    task = harness.task("gate")
    assert task.held_until_ms - (task.ready_at_ms or 0) == LONGEST_MS


def test_a_wait_ends_by_itself(harness: HeldHarness) -> None:
    harness.begin(pause={"kind": "wait", "for": "90s"}, go={**WORKER, "dependsOn": ["pause"]})
    assert harness.state("pause") is TaskState.HELD
    assert harness.sweep(after=60) == []
    harness.sweep(after=30)
    assert harness.state("pause") is TaskState.COMPLETED
    assert harness.output("pause")["waitedUntil"].endswith("Z")
    assert harness.queued() == {"go"}


def test_a_signal_gives_its_value_on(harness: HeldHarness) -> None:
    harness.begin(paid={"kind": "signal", "timeout": "1d"}, go={**WORKER, "dependsOn": ["paid"]})
    assert harness.signal("paid", value={"amount": 5}).output == {"amount": 5}
    assert harness.queued() == {"go"}
    with pytest.raises(Conflict, match="was ended by a decision already"):
        harness.signal("paid", value=1)


def test_a_signal_of_another_run_is_refused(harness: HeldHarness) -> None:
    harness.begin(paid={"kind": "signal"})
    with pytest.raises(Conflict, match="that was run 2 of paid; it is in run 1 now"):
        harness.signal("paid", run=2)


def test_only_what_is_held_is_decided(harness: HeldHarness) -> None:
    harness.begin(write=WORKER, gate=APPROVAL)
    not_yet = "gate is not waiting for a decision yet: it is waiting; try again once the tasks"
    with pytest.raises(Conflict, match=not_yet):
        harness.decide("gate")
    with pytest.raises(Conflict, match="a worker runs it, and it is queued; cancel it to end it"):
        harness.decide("write")
    with pytest.raises(UnknownTask):
        harness.view("gone")


def test_what_is_decided_on_is_shown(harness: HeldHarness) -> None:
    held(harness, valueSchema=WANTED, onTimeout="reject")
    view = harness.view("gate")
    assert (view.question, view.status, view.on_timeout) == ("Publish it?", "held", "reject")
    (parent,) = view.parents
    assert (parent.task_id, parent.status, parent.output) == (
        "write",
        "completed",
        {"title": "Draft"},
    )


def test_a_large_output_is_shown_by_its_beginning(harness: HeldHarness) -> None:
    harness.begin(write=WORKER, gate=APPROVAL)
    harness.complete("write", {"text": "x" * 5_000})
    (parent,) = harness.view("gate").parents
    assert parent.shortened
    assert len(parent.output) == 2_000


def test_an_event_that_was_lost_is_emitted_again(
    harness: HeldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.begin(write=WORKER, gate=APPROVAL)
    monkeypatch.setattr(harness.memory.graph, "hold", lambda *_, **__: None)
    harness.complete("write", 1)
    assert harness.state("gate") is TaskState.READY
    monkeypatch.undo()
    assert actions(harness.sweep(after=60))["gate"] is Action.START
    assert harness.state("gate") is TaskState.HELD
    assert harness.emitted()["Task Held"] == 1


def test_a_task_that_follows_a_failure_is_not_held(harness: HeldHarness) -> None:
    harness.begin(write=WORKER, gate=APPROVAL)
    harness.complete("write", None, FAILED)
    assert harness.state("gate") is TaskState.SKIPPED


def test_what_ends_another_kind_of_held_task_is_said(harness: HeldHarness) -> None:
    harness.begin(gate={"kind": "approval"}, paid={"kind": "signal"}, rest=A_WAIT)
    with pytest.raises(Conflict, match="gate is an approval: approve or reject it"):
        harness.signal("gate")
    with pytest.raises(Conflict, match="paid is a signal: give it its signal instead"):
        harness.decide("paid")
    with pytest.raises(Conflict, match="rest is a wait: it ends by itself, or is cancelled"):
        harness.decide("rest")


A_WAIT = {"kind": "wait", "for": "1h"}
