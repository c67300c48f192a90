"""A state that changes while nobody could be told of it, and whose signature it is."""

from dataclasses import replace

import pytest

from switchyard.domain.alerts.webhook_signatures import secret_of_tenant, signature_header
from switchyard.domain.jobs.notify import Notify
from switchyard.ports.alerting import ChatBusy
from switchyard.usecases.alerts.tell_alone import Telling
from tests.builders import JOB, TENANT
from tests.fakes.escalation_office import (
    FAILED,
    HOUR,
    OVER,
    REDRIVEN,
    SUBJECT,
    WEBHOOK,
    Office,
)


@pytest.fixture
def office() -> Office:
    return Office()


def busy(*_: object, **__: object) -> None:
    raise ChatBusy(90)


def test_a_state_that_comes_while_another_is_tried_in_vain_has_all_its_own_tries(
    office: Office,
) -> None:
    office.hook.down = "it answered 500"
    office.tell()
    for _ in range(300):
        office.sweep()
    assert len(office.hook.sent) == 4
    again = replace(FAILED, fingerprint="failed/2")
    tried_at = []
    for minute in range(26 * 60):
        before = len(office.hook.sent)
        office.sweep(again) if minute else office.tell(again)
        tried_at += [minute] * (len(office.hook.sent) - before)
    assert tried_at == [0, 5, 30, 240, 1440]
    assert len({said["id"] for said in office.hook.said()}) == 2


@pytest.mark.parametrize("notify", [WEBHOOK, Notify(channel="#brand")])
def test_what_was_postponed_is_not_looked_at_again_once_it_is_being_mended(
    office: Office, notify: Notify, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.hook.down = "it answered 500"
    with monkeypatch.context() as patch:
        patch.setattr(office.chat, "post", busy)
        assert office.tell(FAILED, notify).telling is Telling.POSTPONED
    office.clock.advance(HOUR)
    assert office.due() == [SUBJECT]
    assert office.escalator.has_news(notify, REDRIVEN, tenant=TENANT)
    office.tell(REDRIVEN, notify)
    assert office.due() == []
    assert not office.escalator.has_news(notify, REDRIVEN, tenant=TENANT)


def test_what_may_have_arrived_is_told_to_be_over_even_if_it_was_set_aside(office: Office) -> None:
    office.hook.down = "no answer within 10 s"
    for incident in (FAILED, REDRIVEN):
        office.tell(incident)
    office.hook.down = ""
    office.clock.advance(HOUR)
    assert office.tell(OVER).telling is Telling.RECOVERED
    assert [said["type"] for said in office.hook.said()] == ["incident.open", "incident.over"]


def test_there_is_news_until_it_was_told_and_none_while_it_has_to_wait(office: Office) -> None:
    has_news = office.escalator.has_news
    assert not has_news(None, FAILED, tenant=TENANT)
    assert has_news(WEBHOOK, FAILED, tenant=TENANT)
    office.hook.down = "it answered 500"
    office.tell()
    assert not has_news(WEBHOOK, FAILED, tenant=TENANT)
    assert has_news(WEBHOOK, OVER, tenant=TENANT)
    office.hook.down = ""
    office.clock.advance(HOUR)
    office.tell()
    assert not has_news(WEBHOOK, FAILED, tenant=TENANT)


def test_a_channel_that_is_the_stages_own_by_its_id_is_not_told_twice(office: Office) -> None:
    office.teller.tell(FAILED)
    alert = office.book.find(SUBJECT)
    assert alert is not None
    taken = office.book.take(alert, now_ms=office.clock.now_ms())
    assert taken is not None
    office.book.save(replace(taken.told(FAILED, now_ms=0), channel="C0000OPS01"))
    office.tell(FAILED, Notify(channel="C0000OPS01"))
    assert len(office.chat.messages) == 1


def test_no_tenant_can_sign_for_another(office: Office) -> None:
    office.tell()
    ((headers, body),) = office.hook.sent
    at = office.clock.now_ms() // 1000
    for tenant, theirs in ((JOB.tenant, True), ("other", False), ("", False)):
        made = signature_header(secret_of_tenant("whsec", tenant), body, at_seconds=at)
        assert (made == headers["Switchyard-Signature"]) == theirs


def test_what_was_postponed_for_a_channel_that_is_not_allowed_any_more_is_not_due_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = Notify(channel="#brand")
    with monkeypatch.context() as patch:
        patch.setattr(office.chat, "post", busy)
        assert office.tell(FAILED, channel).telling is Telling.POSTPONED
    office.tenants.change(TENANT, slack_channels=())
    office.clock.advance(HOUR)
    assert office.due() == [SUBJECT]
    assert office.escalator.has_news(channel, FAILED, tenant=TENANT)

    office.tell(FAILED, channel)

    assert office.due() == []
    assert not office.escalator.has_news(channel, FAILED, tenant=TENANT)
