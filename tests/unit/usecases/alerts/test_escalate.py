"""Telling those whom a job names, on in-memory twins."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from switchyard.domain.alerts.incidents import Severity
from switchyard.domain.jobs.notify import Notify
from switchyard.usecases.alerts.escalate import REST_MS
from switchyard.usecases.alerts.tell_alone import Telling
from tests.builders import JOB, TENANT
from tests.fakes.escalation_office import (
    FAILED,
    HOUR,
    MINUTE,
    OVER,
    REDRIVEN,
    SUBJECT,
    Office,
)


@pytest.fixture
def office() -> Office:
    return Office()


def test_a_webhook_is_told_what_happened(office: Office) -> None:
    assert office.tell().telling is Telling.POSTED
    (said,) = office.hook.said()
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


def test_every_request_is_signed_and_named(office: Office) -> None:
    office.tell()
    ((headers, body),) = office.hook.sent
    at = office.clock.now_ms() // 1000
    theirs = hmac.new(b"whsec", JOB.tenant.encode(), hashlib.sha256).hexdigest()
    digest = hmac.new(theirs.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["Switchyard-Signature"] == f"t={at},v1={digest}"
    assert headers["Switchyard-Id"] == json.loads(body)["id"]
    assert headers["Content-Type"] == "application/json"


def test_each_state_is_told_once_however_often_it_is_looked_at(office: Office) -> None:
    for incident in (FAILED, FAILED, REDRIVEN, FAILED, OVER, OVER):
        office.tell(incident)
    assert [said["type"] for said in office.hook.said()] == ["incident.open", "incident.over"]
    again = replace(FAILED, fingerprint="failed/3")
    office.tell(again)
    assert len({said["id"] for said in office.hook.said()}) == 3


def test_what_is_over_and_was_never_told_is_not_told(office: Office) -> None:
    assert office.tell(OVER).telling is Telling.UNCHANGED
    assert office.hook.sent == []


def test_that_others_go_on_is_for_the_operators(office: Office) -> None:
    partial = replace(FAILED, severity=Severity.WARNING, fingerprint="partial_failure/1")
    assert office.tell(partial).telling is Telling.UNCHANGED
    assert (office.hook.sent, office.due()) == ([], [])


def test_who_names_nobody_is_nobodys_concern(office: Office) -> None:
    office.escalator.escalate(None, FAILED, tenant=TENANT)
    assert (office.hook.sent, office.reported, office.chat.messages) == ([], [], {})


def test_a_channel_is_told_as_the_stages_own_is(office: Office) -> None:
    channel = Notify(channel="#brand")
    office.teller.tell(FAILED)
    for incident in (FAILED, FAILED, OVER, OVER):
        office.tell(incident, channel)
    theirs = [m for m in office.chat.messages.values() if m.channel == "#brand"]
    assert [m.thread is None for m in theirs] == [True, False]
    assert "It completed" in theirs[0].page.text


def test_a_channel_that_is_the_stages_own_is_not_told_twice(office: Office) -> None:
    office.teller.tell(FAILED)
    office.tell(FAILED, Notify(channel="#ops"))
    assert len(office.chat.messages) == 1


def test_a_webhook_that_fails_is_tried_again_under_the_same_id(office: Office) -> None:
    office.hook.down = "it answered 500"
    told = office.tell()
    assert (told.telling, told.reason) == (Telling.POSTPONED, "hooks.example: it answered 500")
    office.tell()  # looked at again at once
    assert len(office.hook.sent) == 1
    office.hook.down = ""
    for _ in range(5):
        office.sweep()
    first, second = office.hook.said()
    assert first["id"] == second["id"]
    assert (office.reported[-1].telling, office.due()) == (Telling.POSTED, [])


def test_after_five_tries_within_a_day_it_is_given_up_and_told_the_operators(
    office: Office,
) -> None:
    office.teller.tell(FAILED)
    office.hook.down = "it answered 500"
    office.tell()
    tried_at = [0]
    for minute in range(1, 26 * 60):
        before = len(office.hook.sent)
        office.sweep()
        tried_at += [minute] * (len(office.hook.sent) - before)
    assert tried_at == [0, 5, 30, 240, 1440]
    assert office.reported[-1].telling is Telling.GIVEN_UP
    note = list(office.chat.messages.values())[-1]
    assert "given up after five tries: hooks.example: it answered 500" in note.page.text
    assert note.thread is not None
    office.tell()
    assert len(office.hook.sent) == 5


def test_the_next_state_is_tried_afresh_after_one_was_given_up(office: Office) -> None:
    office.hook.down = "it answered 500"
    office.tell()
    for _ in range(25 * 60):
        office.sweep()
    office.hook.sent.clear()
    assert office.tell(OVER).telling is Telling.POSTPONED
    office.hook.down = ""
    for _ in range(6):
        office.sweep(OVER)
    assert [said["type"] for said in office.hook.said()] == ["incident.over"] * 2


def test_what_is_told_late_is_what_is_then(office: Office) -> None:
    office.hook.down = "no answer within 10 s"
    office.tell()
    office.hook.down = ""
    office.clock.advance(HOUR)
    office.tell(OVER)
    assert [said["type"] for said in office.hook.said()] == ["incident.open", "incident.over"]


@pytest.mark.parametrize("secret", [None, ""])
def test_nothing_is_sent_unsigned_and_the_remedy_is_named(
    office: Office, secret: str | None
) -> None:
    office.secrets.secret = secret
    told = office.tell()
    assert told.telling is Telling.NOT_CONFIGURED
    assert "create the secret switchyard/test/webhooks" in told.reason
    assert (office.hook.sent, office.due()) == ([], [])
    office.secrets.secret = "whsec"
    assert office.tell().telling is Telling.POSTED


def test_while_the_secret_cannot_be_read_it_is_tried_later(office: Office) -> None:
    office.secrets.secret = "down"
    assert office.tell().telling is Telling.POSTPONED
    office.secrets.secret = "whsec"
    office.clock.advance(5 * MINUTE)
    assert office.due() == [SUBJECT]
    assert office.tell().telling is Telling.POSTED


def test_of_two_at_once_one_tells(office: Office) -> None:
    post = office.hook.post

    def meanwhile(url: str, body: bytes, headers: Mapping[str, str]) -> None:
        post(url, body, headers)
        office.hook.post = post  # type: ignore[method-assign]
        assert office.tell().telling is Telling.POSTPONED

    office.hook.post = meanwhile  # type: ignore[method-assign]
    office.tell()
    office.sweep()
    assert (len(office.hook.sent), office.due()) == (1, [])


def test_a_slow_webhook_does_not_hold_up_those_after_it(office: Office) -> None:
    office.hook.down, office.hook.takes_seconds = "no answer within 10 s", 10
    office.tell()
    other = replace(FAILED, subject=f"{SUBJECT[:-1]}2")
    told = office.tell(other)
    assert "slow a moment ago" in told.reason
    assert len(office.hook.sent) == 1
    office.hook.down, office.hook.takes_seconds = "", 0
    office.clock.advance(REST_MS / 1000)
    assert office.tell(other).telling is Telling.POSTED


def test_where_a_webhook_is_stays_between_us_and_it(office: Office) -> None:
    office.teller.tell(FAILED)
    office.hook.down = "it answered 500"
    office.tell()
    for _ in range(25 * 60):
        office.sweep()
    said = str([message.page for message in office.chat.messages.values()])
    assert "t0ps3cret" not in said + str(office.reported) + str(office.hook.said())


def test_a_channel_that_the_tenant_may_not_name_any_more_is_not_posted_to() -> None:
    office, channel = Office(), Notify(channel="#brand")
    office.tenants.change(TENANT, slack_channels=("#other",))

    told = office.tell(FAILED, channel)

    assert told.telling is Telling.NOT_ALLOWED
    assert told.telling.troubled
    assert "#brand is not one of the channels that jobs of acme may name" in told.reason
    assert office.chat.messages == {}
    assert not office.escalator.has_news(channel, FAILED, tenant=TENANT)
