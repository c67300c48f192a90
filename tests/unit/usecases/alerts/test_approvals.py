"""An approval is posted with its buttons, a press decides it, and its message says how."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters.slack.blocks import render
from switchyard.adapters.slack.buttons import parse_press
from switchyard.contracts.alerting import APPROVAL_EVENTS, subject_to_check
from switchyard.contracts.events import DETAIL_TYPE
from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.subjects import ApprovalSubject, parse_subject
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.states import JobState, TaskState
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.chat import MemoryChat, MemoryConnector
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.press_button import ButtonPresses, Pressed
from switchyard.usecases.alerts.read_dead_letters import DeadLetterReader
from switchyard.usecases.alerts.report_incidents import SubjectChecker
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.held_harness import WORKER, HeldHarness, a_decider, a_reader
from tests.fakes.slack.press import USER, a_payload, form_of
from tests.fakes.slack.text import seen_in_slack
from tests.unit.usecases.alerts.test_report_incidents import Escalations, KnownAlarms

GATE = {"kind": "approval", "question": "Publish it?", "dependsOn": ["write"], "timeout": "1h"}


class ApprovalHarness(HeldHarness):
    """The alerts and the buttons of a stage, beside its dispatcher."""

    def __init__(self) -> None:
        super().__init__()
        changes = ChangedHarness()
        self.chat = MemoryChat(now_ms=self.clock.now_ms())
        self.alerts = AlertPublisher(
            store=MemoryAlertStore(),
            chats=MemoryConnector(self.chat),
            channel="#ops",
            clock=self.clock,
        )
        self.checker = SubjectChecker(
            alerts=self.alerts,
            escalator=Escalations(),
            jobs=self.memory.jobs,
            tasks=self.memory.graph,
            held=a_reader(self.memory),
            dead_letters=DeadLetterReader(blobs=self.memory.blobs, stage="dev"),
            alarms=KnownAlarms(),
            stage="dev",
        )
        self.presses = ButtonPresses(
            redrives=changes.redrives,
            cancels=changes.cancels,
            decider=a_decider(self.memory, self.emitter, self.clock),
            operators={USER},
            tenants=self.memory.tenants,
            alerts=self.alerts,
        )

    def wait_for_approval(self, **gate: Any) -> None:
        after = {**WORKER, "dependsOn": ["gate"]}
        self.begin(write=WORKER, gate={**GATE, **gate}, publish=after)
        self.complete("write", {"title": "Draft"})
        assert self.state("gate") is TaskState.HELD

    def report(self) -> PublishStatus:
        """Check what the last event about the approval names, as its message in the queue does."""
        event = next(
            event
            for event in reversed(self.memory.bus.events)
            if event.event_type in APPROVAL_EVENTS
            and event.detail()["properties"].get("kind") == "approval"
        )
        body = json.dumps({"detail-type": DETAIL_TYPE, "detail": event.detail()}, default=str)
        subject = subject_to_check(body)
        assert subject == ApprovalSubject(self.ref("gate"))
        return self.checker.check(subject).status

    @property
    def message(self) -> Any:
        """The one message in the channel."""
        return next(iter(self.chat.messages.values()))

    def buttons(self) -> dict[str, str]:
        """The values of the message's buttons, by action."""
        blocks = render(self.message.content, with_buttons=True).blocks
        rows = [block for block in blocks if block["type"] == "actions"]
        return {
            element["action_id"]: element["value"] for row in rows for element in row["elements"]
        }

    def press(self, action: str, value: str, *, user: str = USER) -> Pressed:
        payload = a_payload(self.job, action)
        payload["actions"][0]["value"] = value
        payload["user"]["id"] = user
        found = parse_press(form_of(payload))
        assert found is not None
        return self.presses.press(found[0])


@pytest.fixture
def harness() -> ApprovalHarness:
    return ApprovalHarness()


def test_what_is_decided_on_is_posted_with_two_buttons(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    assert harness.report() is PublishStatus.POSTED
    seen = seen_in_slack(harness.message.content)
    assert "A job waits for an approval: Publish it?" in seen
    assert '{"title": "Draft"}' in seen
    assert f"switchyard approve {harness.job.job_id} gate --stage dev" in seen
    assert harness.buttons().keys() == {"switchyard_approve", "switchyard_reject"}
    assert harness.report() is PublishStatus.UNCHANGED


def test_a_press_decides_and_the_message_says_who_did(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    harness.report()
    pressed = harness.press("approve", harness.buttons()["switchyard_approve"])
    assert (pressed.outcome, pressed.done) == ("approved gate", True)
    output = harness.memory.payloads.read(harness.ref("gate")).output
    assert (output["approved"], output["by"]) == (True, f"ada (Slack {USER})")
    harness.report()
    assert "Approved by ada" in seen_in_slack(harness.message.content)
    assert harness.buttons() == {}


def test_a_press_counts_once_and_the_second_person_hears_who_was_first(
    harness: ApprovalHarness,
) -> None:
    harness.wait_for_approval()
    harness.report()
    values = harness.buttons()
    harness.press("reject", values["switchyard_reject"])
    again = harness.press("reject", values["switchyard_reject"])
    assert again.done
    assert harness.emitted()["Task Completed"] == 1
    late = harness.press("approve", values["switchyard_approve"])
    assert not late.done
    assert "gate" in late.outcome


def test_a_press_on_something_that_has_changed_is_refused(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    harness.report()
    value = json.loads(harness.buttons()["switchyard_approve"]) | {"basis": "0" * 16}
    pressed = harness.press("approve", json.dumps(value))
    assert not pressed.done
    assert "has changed since it was read" in pressed.outcome
    assert harness.state("gate") is TaskState.HELD


def test_nobody_else_may_decide(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    harness.report()
    pressed = harness.press("approve", harness.buttons()["switchyard_approve"], user="U0STRANGER")
    assert not pressed.done
    assert "U0STRANGER" in pressed.outcome
    assert harness.state("gate") is TaskState.HELD


def test_a_button_that_names_no_approval_decides_nothing(harness: ApprovalHarness) -> None:
    payload = a_payload(harness.begin(only=WORKER), "approve")
    with pytest.raises(ValueError, match="ValueError"):
        parse_press(form_of(payload))


def test_what_nobody_decided_in_time_is_reported_as_such(harness: ApprovalHarness) -> None:
    harness.wait_for_approval(onTimeout="reject")
    harness.report()
    harness.clock.advance(3_601)
    harness.sweep()
    harness.report()
    assert "Nobody decided in time: rejected" in seen_in_slack(harness.message.content)
    assert harness.buttons() == {}


def test_it_is_posted_in_the_channel_that_its_job_names(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    job = harness.memory.state.jobs[harness.job]
    assert job.state is JobState.OPEN
    target = NotifyTarget(channel="#team")
    harness.memory.state.jobs[harness.job] = replace(job, notify=target)
    harness.report()
    assert harness.message.channel == "#team"


def test_the_subject_is_read_as_it_is_written(harness: ApprovalHarness) -> None:
    harness.wait_for_approval()
    subject = ApprovalSubject(harness.ref("gate"))
    assert parse_subject(str(subject)) == subject
    assert subject.job == harness.job
