"""Buttons in Slack, on in-memory twins."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest

from switchyard.adapters.memory.chat import MemoryDoor
from switchyard.contracts.slack_actions import SlackRequest
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState
from switchyard.usecases.alerts.answer_slack import TRY_AGAIN, Answered
from tests.fakes.slack_office import Office
from tests.fakes.slack_press import CHANNEL, MESSAGE, USER, a_payload, form_of, signed
from tests.fakes.yard import FAILED

BY = f"ada (Slack {USER})"


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
def failed(office: Office) -> Office:
    office.fail()
    return office


def test_a_press_redrives_the_job_and_who_pressed_is_recorded(failed: Office) -> None:
    answered = failed.press()
    assert (answered.status, answered.done, answered.outcome) == (200, True, "redrove it: run 2")
    assert answered.press
    assert (answered.press.user_id, answered.press.user_name) == (USER, "ada")
    failed.yard.deliver()
    assert failed.yard.runs() == {"a": 2, "b": 2, "c": 1}
    assert failed.told("Task Redriven") == [BY, BY]
    (note,) = failed.chat.messages.values()
    assert note.page.text == f"<@{USER}> redrove it: run 2"
    assert (note.channel, note.thread) == (CHANNEL, MESSAGE)
    assert failed.replies.texts == []


def test_a_press_cancels_the_job_and_who_pressed_is_recorded(office: Office) -> None:
    answered = office.press("cancel")
    assert (answered.done, answered.outcome) == (True, "cancelled it: run 1")
    office.yard.deliver()
    assert office.yard.job_state() is JobState.CANCELLED
    assert office.told("Job Cancelled") == [BY]
    (note,) = office.chat.messages.values()
    assert note.page.text == f"<@{USER}> cancelled it: run 1"


def test_who_redrives_a_cancelled_job_is_not_taken_for_who_cancelled_it(office: Office) -> None:
    office.press("cancel")
    office.yard.deliver()
    office.yard.redrive()
    office.yard.deliver()
    assert office.yard.the_job().cancelled_by is None
    assert office.told("Task Redriven") == [None] * 3
    office.yard.cancels.request_cancel(office.yard.job)
    office.yard.deliver()
    assert office.told("Job Cancelled") == [BY, None]


def refused(office: Office, request: SlackRequest) -> str:
    answered = office.desk.answer(request)
    assert answered.status is HTTPStatus.UNAUTHORIZED
    assert office.yard.runs() == {"a": 1, "b": 1, "c": 1}
    assert not office.yard.memory.dispatches.refs
    assert office.replies.texts == []
    return answered.outcome


@pytest.mark.parametrize(
    "forged",
    [
        {"body": b"payload=%7B%7D"},
        {"signature": "v0=" + "0" * 64},
        {"signature": ""},
        {"timestamp": "1"},
        {"timestamp": ""},
    ],
    ids=str,
)
def test_a_forged_press_is_refused(failed: Office, forged: dict[str, Any]) -> None:
    assert refused(failed, replace(failed.request(), **forged))


def test_a_press_signed_with_another_secret_is_refused(failed: Office) -> None:
    body = form_of(a_payload(failed.yard.job))
    request = signed(body, at_ms=failed.yard.clock.now_ms(), secret="another")
    assert "not Slack's" in refused(failed, request)


def test_a_late_press_is_refused(failed: Office) -> None:
    request = failed.request()
    failed.yard.clock.advance(301)
    assert "too long ago" in refused(failed, request)


def test_a_replayed_press_is_refused(failed: Office) -> None:
    """The first was refused for another reason, so that the second could do something."""
    request = failed.request(run=7)
    assert failed.desk.answer(request).status is HTTPStatus.OK
    failed.replies.texts.clear()
    failed.yard.clock.advance(2)
    assert refused(failed, request) == "it came before"


@pytest.mark.parametrize("secret", [None, "", "xoxb-bare-token", '{"botToken": "xoxb-1"}', "{"])
def test_without_a_signing_secret_there_is_nothing_here(failed: Office, secret: str | None) -> None:
    failed.secrets.secret = secret
    answered = failed.press()
    assert (answered.status, answered.done) == (HTTPStatus.NOT_FOUND, False)


def test_while_the_secret_cannot_be_read_nothing_is_believed(failed: Office) -> None:
    failed.secrets.secret = "down"
    assert failed.press().status is HTTPStatus.SERVICE_UNAVAILABLE


def whispered(office: Office, answered: Answered) -> str:
    assert (answered.status, answered.done) == (HTTPStatus.OK, False)
    assert not office.chat.messages
    (text,) = office.replies.texts
    return text


def test_who_presses_too_early_is_told_why(office: Office) -> None:
    assert "has not settled yet" in whispered(office, office.press())


def test_who_presses_after_another_is_told_so(failed: Office) -> None:
    failed.press()
    failed.chat.messages.clear()
    failed.yard.clock.advance(1)
    assert "being redriven already" in whispered(failed, failed.press())


def test_a_button_of_an_older_run_says_so(failed: Office) -> None:
    failed.press()
    failed.yard.deliver()
    failed.yard.settle("a", FAILED)
    failed.yard.deliver()
    failed.chat.messages.clear()
    failed.yard.clock.advance(1)
    assert "that was run 1" in whispered(failed, failed.press())
    assert failed.yard.the_job().run == 2


def test_an_old_button_cancels_nothing_either(failed: Office) -> None:
    failed.yard.redrive()
    failed.yard.deliver()
    assert "that was run 1" in whispered(failed, failed.press("cancel"))


def test_a_job_that_is_not_there_is_told(failed: Office) -> None:
    job = replace(failed.yard.job, tenant="nobody")
    request = signed(form_of(a_payload(job)), at_ms=failed.yard.clock.now_ms())
    assert "there is no job" in whispered(failed, failed.desk.answer(request))


def test_what_cannot_be_said_in_slack_is_done_all_the_same(failed: Office) -> None:
    failed.desk = replace(failed.desk, notes=replace(failed.desk.notes, door=MemoryDoor(None)))
    answered = failed.press()
    assert (answered.done, answered.not_told) == (True, "there is no token")


def test_a_whisper_that_does_not_arrive_harms_nobody(office: Office) -> None:
    office.replies.down = True
    assert office.press().not_told == "it answered 500"


@pytest.mark.parametrize(
    "url", ["", "https://evil.example/", "https://hooks.slack.com.evil.example/"]
)
def test_nobody_but_slack_is_whispered_to(office: Office, url: str) -> None:
    answered = office.press(response_url=url)
    assert answered.not_told == "Slack did not say where to answer"
    assert office.replies.texts == []


STRANGER = "U0STRANGER"


def pressed_by_a_stranger(office: Office, action: str = "redrive") -> Answered:
    return office.press(action, user={"id": STRANGER, "username": "eve"})


@pytest.mark.parametrize("action", ["redrive", "cancel"])
def test_a_press_of_a_user_who_is_on_no_list_does_nothing_and_only_that_user_reads_why(
    failed: Office, action: str
) -> None:
    answered = pressed_by_a_stranger(failed, action)
    assert (answered.status, answered.done) == (HTTPStatus.OK, False)
    assert f"the Slack user {STRANGER} is neither among the operators" in answered.outcome
    assert answered.press
    assert answered.press.user_id == STRANGER
    (said,) = failed.replies.texts
    assert said.startswith("Nothing was done: the Slack user")
    assert failed.chat.messages == {}
    failed.yard.deliver()
    assert failed.yard.runs() == {"a": 1, "b": 1, "c": 1}


def test_an_operator_of_the_tenant_may_press_on_its_incidents_alone(failed: Office) -> None:
    tenants = failed.yard.memory.tenants
    tenants.change("other", slack_operators=(STRANGER,))
    assert not pressed_by_a_stranger(failed).done
    failed.yard.clock.advance(1)
    tenants.change(failed.yard.job.tenant, slack_operators=(STRANGER,))
    assert pressed_by_a_stranger(failed).done


def test_with_nobody_listed_nobody_may_press(failed: Office) -> None:
    failed.desk = replace(failed.desk, operators=frozenset())
    assert not failed.press().done


def test_while_the_lists_cannot_be_read_nobody_presses(
    failed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_reach(_tenant: str) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(failed.yard.memory.tenants, "find", out_of_reach)
    answered = failed.press()
    assert (answered.done, answered.outcome) == (False, TRY_AGAIN)
