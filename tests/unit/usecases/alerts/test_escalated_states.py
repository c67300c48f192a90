"""States that change while their delivery fails, and the tenant whose signature they have."""

from dataclasses import replace

import pytest

from switchyard.contracts.webhooks import signature_header, tenant_secret
from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.ports.alerting import ChatBusy
from tests.builders import JOB, TENANT
from tests.fakes.harnesses.escalation import (
    FAILED,
    HOUR,
    OVER,
    REDRIVEN,
    SUBJECT,
    WEBHOOK,
    EscalationHarness,
)


@pytest.fixture
def harness() -> EscalationHarness:
    return EscalationHarness()


def busy(*_: object, **__: object) -> None:
    raise ChatBusy(90)


def test_a_state_that_comes_while_another_is_tried_in_vain_has_all_its_own_tries(
    harness: EscalationHarness,
) -> None:
    harness.hook.down = "it answered 500"
    harness.escalate()
    for _ in range(300):
        harness.sweep()
    assert len(harness.hook.sent) == 4
    again = replace(FAILED, fingerprint="failed/2")
    tried_at = []
    for minute in range(26 * 60):
        before = len(harness.hook.sent)
        harness.sweep(again) if minute else harness.escalate(again)
        tried_at += [minute] * (len(harness.hook.sent) - before)
    assert tried_at == [0, 5, 30, 240, 1440]
    assert len({said["id"] for said in harness.hook.said()}) == 2


@pytest.mark.parametrize("notify", [WEBHOOK, NotifyTarget(channel="#brand")])
def test_a_postponed_delivery_is_not_due_once_the_job_is_redriven(
    harness: EscalationHarness, notify: NotifyTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.hook.down = "it answered 500"
    with monkeypatch.context() as patch:
        patch.setattr(harness.chat, "post", busy)
        assert harness.escalate(FAILED, notify).status is PublishStatus.POSTPONED
    harness.clock.advance(HOUR)
    assert harness.due() == [str(SUBJECT)]
    assert harness.escalator.needs_update(notify, REDRIVEN, tenant=TENANT)
    harness.escalate(REDRIVEN, notify)
    assert harness.due() == []
    assert not harness.escalator.needs_update(notify, REDRIVEN, tenant=TENANT)


def test_the_end_of_what_may_have_arrived_is_delivered_even_if_it_was_dropped(
    harness: EscalationHarness,
) -> None:
    harness.hook.down = "no answer within 10 s"
    for incident in (FAILED, REDRIVEN):
        harness.escalate(incident)
    harness.hook.down = ""
    harness.clock.advance(HOUR)
    assert harness.escalate(OVER).status is PublishStatus.RECOVERED
    assert [said["type"] for said in harness.hook.said()] == ["incident.open", "incident.over"]


def test_an_update_is_needed_until_it_was_delivered_and_not_while_it_waits(
    harness: EscalationHarness,
) -> None:
    needs_update = harness.escalator.needs_update
    assert not needs_update(None, FAILED, tenant=TENANT)
    assert needs_update(WEBHOOK, FAILED, tenant=TENANT)
    harness.hook.down = "it answered 500"
    harness.escalate()
    assert not needs_update(WEBHOOK, FAILED, tenant=TENANT)
    assert needs_update(WEBHOOK, OVER, tenant=TENANT)
    harness.hook.down = ""
    harness.clock.advance(HOUR)
    harness.escalate()
    assert not needs_update(WEBHOOK, FAILED, tenant=TENANT)


def test_a_channel_that_is_the_stages_own_by_its_id_gets_one_alert(
    harness: EscalationHarness,
) -> None:
    harness.alerts.publish(FAILED)
    alert = harness.store.find(str(SUBJECT))
    assert alert is not None
    taken = harness.store.lease(alert, now_ms=harness.clock.now_ms())
    assert taken is not None
    harness.store.save(replace(taken.published(FAILED, now_ms=0), channel="C0000OPS01"))
    harness.escalate(FAILED, NotifyTarget(channel="C0000OPS01"))
    assert len(harness.chat.messages) == 1


def test_no_tenant_can_sign_for_another(harness: EscalationHarness) -> None:
    harness.escalate()
    ((headers, body),) = harness.hook.sent
    at = harness.clock.now_ms() // 1000
    for tenant, theirs in ((JOB.tenant, True), ("other", False), ("", False)):
        made = signature_header(tenant_secret("whsec", tenant), body, at_seconds=at)
        assert (made == headers["Switchyard-Signature"]) == theirs


def test_what_was_postponed_for_a_channel_that_is_not_allowed_any_more_is_not_due_again(
    harness: EscalationHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = NotifyTarget(channel="#brand")
    with monkeypatch.context() as patch:
        patch.setattr(harness.chat, "post", busy)
        assert harness.escalate(FAILED, channel).status is PublishStatus.POSTPONED
    harness.tenants.change(TENANT, slack_channels=())
    harness.clock.advance(HOUR)
    assert harness.due() == [str(SUBJECT)]
    assert harness.escalator.needs_update(channel, FAILED, tenant=TENANT)

    harness.escalate(FAILED, channel)

    assert harness.due() == []
    assert not harness.escalator.needs_update(channel, FAILED, tenant=TENANT)
