"""Escalates failures to the channel or webhook that a job names, on in-memory twins."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.incidents import Severity
from switchyard.domain.alerts.subjects import JobSubject
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.usecases.alerts.escalate import PAUSE_MS
from tests.builders import JOB, TENANT
from tests.fakes.harnesses.escalation import (
    FAILED,
    HOUR,
    MINUTE,
    OVER,
    REDRIVEN,
    SUBJECT,
    WEBHOOK,
    EscalationHarness,
)


@pytest.fixture
def harness() -> EscalationHarness:
    return EscalationHarness()


def test_a_webhook_receives_the_incident(harness: EscalationHarness) -> None:
    assert harness.escalate().status is PublishStatus.POSTED
    (said,) = harness.hook.said()
    assert (said["schema"], said["type"]) == (1, "incident.open")
    assert said["job"] == {"tenantId": JOB.tenant, "jobId": JOB.job_id}
    assert said["at"] == "2027-01-15T08:00:00Z"
    incident = said["incident"]
    assert (incident["severity"], incident["open"]) == ("critical", True)
    assert incident["sections"] == [
        {
            "title": "scrape",
            "facts": [{"name": "attempts", "value": "3 of 3"}],
            "text": "<!channel> no such host",
            "commands": ["switchyard redrive"],
        }
    ]


def test_every_request_is_signed_and_named(harness: EscalationHarness) -> None:
    harness.escalate()
    ((headers, body),) = harness.hook.sent
    at = harness.clock.now_ms() // 1000
    theirs = hmac.new(b"whsec", JOB.tenant.encode(), hashlib.sha256).hexdigest()
    digest = hmac.new(theirs.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["Switchyard-Signature"] == f"t={at},v1={digest}"
    assert headers["Switchyard-Id"] == json.loads(body)["id"]
    assert headers["Content-Type"] == "application/json"


def test_each_state_is_delivered_once_however_often_it_is_checked(
    harness: EscalationHarness,
) -> None:
    for incident in (FAILED, FAILED, REDRIVEN, FAILED, OVER, OVER):
        harness.escalate(incident)
    assert [said["type"] for said in harness.hook.said()] == ["incident.open", "incident.over"]
    again = replace(FAILED, fingerprint="failed/3")
    harness.escalate(again)
    assert len({said["id"] for said in harness.hook.said()}) == 3


def test_an_incident_that_is_over_and_was_never_posted_is_not_posted(
    harness: EscalationHarness,
) -> None:
    assert harness.escalate(OVER).status is PublishStatus.UNCHANGED
    assert harness.hook.sent == []


def test_that_others_go_on_is_for_the_operators(harness: EscalationHarness) -> None:
    partial = replace(FAILED, severity=Severity.WARNING, fingerprint="partial_failure/1")
    assert harness.escalate(partial).status is PublishStatus.UNCHANGED
    assert (harness.hook.sent, harness.due()) == ([], [])


def test_a_job_that_names_no_contact_is_not_escalated(harness: EscalationHarness) -> None:
    harness.escalator.escalate(None, FAILED, tenant=TENANT)
    assert (harness.hook.sent, harness.results, harness.chat.messages) == ([], [], {})


def test_a_channel_gets_alerts_as_the_stages_own_does(harness: EscalationHarness) -> None:
    channel = NotifyTarget(channel="#brand")
    harness.alerts.publish(FAILED)
    for incident in (FAILED, FAILED, OVER, OVER):
        harness.escalate(incident, channel)
    theirs = [m for m in harness.chat.messages.values() if m.channel == "#brand"]
    assert [m.thread is None for m in theirs] == [True, False]
    assert "It completed" in theirs[0].text


def test_a_channel_that_is_the_stages_own_gets_one_alert(harness: EscalationHarness) -> None:
    harness.alerts.publish(FAILED)
    harness.escalate(FAILED, NotifyTarget(channel="#ops"))
    assert len(harness.chat.messages) == 1


def test_a_webhook_that_fails_is_tried_again_under_the_same_id(harness: EscalationHarness) -> None:
    harness.hook.down = "it answered 500"
    result = harness.escalate()
    assert (result.status, result.reason) == (
        PublishStatus.POSTPONED,
        "hooks.example: it answered 500",
    )
    harness.escalate()  # looked at again at once
    assert len(harness.hook.sent) == 1
    harness.hook.down = ""
    for _ in range(5):
        harness.sweep()
    first, second = harness.hook.said()
    assert first["id"] == second["id"]
    assert (harness.results[-1].status, harness.due()) == (PublishStatus.POSTED, [])


def test_after_five_tries_within_a_day_it_is_given_up_and_operators_read_so(
    harness: EscalationHarness,
) -> None:
    harness.alerts.publish(FAILED)
    harness.hook.down = "it answered 500"
    harness.escalate()
    tried_at = [0]
    for minute in range(1, 26 * 60):
        before = len(harness.hook.sent)
        harness.sweep()
        tried_at += [minute] * (len(harness.hook.sent) - before)
    assert tried_at == [0, 5, 30, 240, 1440]
    assert harness.results[-1].status is PublishStatus.GIVEN_UP
    note = list(harness.chat.messages.values())[-1]
    assert "given up after five tries: hooks.example: it answered 500" in note.text
    assert note.thread is not None
    harness.escalate()
    assert len(harness.hook.sent) == 5


def test_the_next_state_is_tried_afresh_after_one_was_given_up(harness: EscalationHarness) -> None:
    harness.hook.down = "it answered 500"
    harness.escalate()
    for _ in range(25 * 60):
        harness.sweep()
    harness.hook.sent.clear()
    assert harness.escalate(OVER).status is PublishStatus.POSTPONED
    harness.hook.down = ""
    for _ in range(6):
        harness.sweep(OVER)
    assert [said["type"] for said in harness.hook.said()] == ["incident.over"] * 2


def test_a_late_delivery_has_the_latest_state(harness: EscalationHarness) -> None:
    harness.hook.down = "no answer within 10 s"
    harness.escalate()
    harness.hook.down = ""
    harness.clock.advance(HOUR)
    harness.escalate(OVER)
    assert [said["type"] for said in harness.hook.said()] == ["incident.open", "incident.over"]


@pytest.mark.parametrize("secret", [None, ""])
def test_nothing_is_sent_unsigned_and_the_remedy_is_named(
    harness: EscalationHarness, secret: str | None
) -> None:
    harness.secrets.secret = secret
    result = harness.escalate()
    assert result.status is PublishStatus.NOT_CONFIGURED
    assert "create the secret switchyard/test/webhooks" in result.reason
    assert (harness.hook.sent, harness.due()) == ([], [])
    harness.secrets.secret = "whsec"
    assert harness.escalate().status is PublishStatus.POSTED


def test_while_the_secret_cannot_be_read_it_is_tried_later(harness: EscalationHarness) -> None:
    harness.secrets.secret = "down"
    assert harness.escalate().status is PublishStatus.POSTPONED
    harness.secrets.secret = "whsec"
    harness.clock.advance(5 * MINUTE)
    assert harness.due() == [str(SUBJECT)]
    assert harness.escalate().status is PublishStatus.POSTED


def test_of_two_at_once_one_delivers(harness: EscalationHarness) -> None:
    post = harness.hook.post

    def meanwhile(url: str, body: bytes, headers: Mapping[str, str]) -> None:
        post(url, body, headers)
        harness.hook.post = post  # type: ignore[method-assign]
        assert harness.escalate().status is PublishStatus.POSTPONED

    harness.hook.post = meanwhile  # type: ignore[method-assign]
    harness.escalate()
    harness.sweep()
    assert (len(harness.hook.sent), harness.due()) == (1, [])


def test_a_slow_webhook_does_not_hold_up_those_after_it(harness: EscalationHarness) -> None:
    harness.hook.down, harness.hook.takes_seconds = "no answer within 10 s", 10
    harness.escalate()
    other = replace(FAILED, subject=JobSubject(JobRef(JOB.tenant, f"{JOB.job_id[:-1]}2")))
    result = harness.escalate(other)
    assert "slow a moment ago" in result.reason
    assert len(harness.hook.sent) == 1
    harness.hook.down, harness.hook.takes_seconds = "", 0
    harness.clock.advance(PAUSE_MS / 1000)
    assert harness.escalate(other).status is PublishStatus.POSTED


def test_where_a_webhook_is_stays_between_us_and_it(harness: EscalationHarness) -> None:
    harness.alerts.publish(FAILED)
    harness.hook.down = "it answered 500"
    harness.escalate()
    for _ in range(25 * 60):
        harness.sweep()
    said = str([message.content for message in harness.chat.messages.values()])
    assert "t0ps3cret" not in said + str(harness.results) + str(harness.hook.said())


def test_a_channel_that_the_tenant_may_not_name_any_more_is_not_posted_to() -> None:
    harness, channel = EscalationHarness(), NotifyTarget(channel="#brand")
    harness.tenants.change(TENANT, slack_channels=("#other",))

    result = harness.escalate(FAILED, channel)

    assert result.status is PublishStatus.NOT_ALLOWED
    assert result.status.failed
    assert "#brand is not one of the channels that jobs of acme may name" in result.reason
    assert harness.chat.messages == {}
    assert not harness.escalator.needs_update(channel, FAILED, tenant=TENANT)


COMPLETED = replace(OVER, fingerprint="completed/1", title="A job completed: brand")
BOTH = NotifyTarget(webhook=WEBHOOK.webhook, on=("completed", "failed"))
SUCCESS_ALONE = NotifyTarget(webhook=WEBHOOK.webhook, on=("completed",))


def test_a_success_is_delivered_only_if_it_was_asked_for(harness: EscalationHarness) -> None:
    assert harness.escalate(COMPLETED, WEBHOOK).status is PublishStatus.UNCHANGED
    assert not harness.escalator.needs_update(WEBHOOK, COMPLETED, tenant=TENANT)
    assert harness.escalator.needs_update(BOTH, COMPLETED, tenant=TENANT)
    harness.escalate(COMPLETED, BOTH)
    (said,) = harness.hook.said()
    assert (said["type"], said["incident"]["open"]) == ("job.completed", False)
    assert "Switchyard-Signature" in harness.hook.sent[0][0]


def test_a_success_is_delivered_once_for_each_run(harness: EscalationHarness) -> None:
    for _ in range(3):
        harness.escalate(COMPLETED, BOTH)
    assert not harness.escalator.needs_update(BOTH, COMPLETED, tenant=TENANT)
    assert len(harness.hook.sent) == 1
    harness.escalate(replace(COMPLETED, fingerprint="completed/2"), BOTH)
    assert [said["type"] for said in harness.hook.said()] == ["job.completed"] * 2
    assert len({said["id"] for said in harness.hook.said()}) == 2


def test_the_success_of_a_job_that_had_failed_is_the_end_of_its_incident(
    harness: EscalationHarness,
) -> None:
    for incident in (FAILED, REDRIVEN, OVER, OVER):
        harness.escalate(incident, BOTH)
    assert [said["type"] for said in harness.hook.said()] == ["incident.open", "incident.over"]


def test_whoever_asks_for_success_alone_is_sent_no_failure(harness: EscalationHarness) -> None:
    for incident in (FAILED, REDRIVEN):
        assert harness.escalate(incident, SUCCESS_ALONE).status is PublishStatus.UNCHANGED
    harness.escalate(OVER, SUCCESS_ALONE)
    assert [said["type"] for said in harness.hook.said()] == ["job.completed"]


def test_a_success_is_delivered_again_after_an_outage(harness: EscalationHarness) -> None:
    harness.hook.down = "it answered 500"
    assert harness.escalate(COMPLETED, BOTH).status is PublishStatus.POSTPONED
    harness.hook.down = ""
    harness.clock.advance(HOUR)
    harness.escalate(COMPLETED, BOTH)
    harness.escalate(COMPLETED, BOTH)
    assert len(harness.hook.sent) == 2
    assert len({said["id"] for said in harness.hook.said()}) == 1


def test_a_success_is_posted_in_the_channel_once(harness: EscalationHarness) -> None:
    notify = NotifyTarget(channel="#brand", on=("completed",))
    for _ in range(2):
        harness.escalate(COMPLETED, notify)
    assert len(harness.chat.messages) == 1
