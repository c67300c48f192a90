"""Answers presses of buttons in Slack, on in-memory twins."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest

from switchyard.adapters.slack.interactions import Answer
from switchyard.adapters.slack.requests import SlackRequest
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState
from switchyard.testing.chat import MemoryConnector
from switchyard.usecases.alerts.press_button import TRY_AGAIN
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.slack.interactions import PressHarness
from tests.fakes.slack.press import CHANNEL, MESSAGE, USER, a_payload, form_of, signed
from tests.fakes.slack.text import seen_in_slack

BY = f"ada (Slack {USER})"


@pytest.fixture
def harness() -> PressHarness:
    return PressHarness()


@pytest.fixture
def failed(harness: PressHarness) -> PressHarness:
    harness.fail()
    return harness


def test_a_press_redrives_the_job_and_who_pressed_is_recorded(failed: PressHarness) -> None:
    answered = failed.press()
    assert (answered.status, answered.done, answered.outcome) == (200, True, "redrove it: run 2")
    assert answered.press
    assert (answered.press.user_id, answered.press.user_name) == (USER, "ada")
    failed.harness.deliver()
    assert failed.harness.runs() == {"a": 2, "b": 2, "c": 1}
    assert failed.requested_by("Task Redriven") == [BY, BY]
    (note,) = failed.chat.messages.values()
    assert seen_in_slack(note.content).strip() == f"<@{USER}> redrove it: run 2"
    assert (note.channel, note.thread) == (CHANNEL, MESSAGE)
    assert failed.replies.texts == []


def test_a_press_cancels_the_job_and_who_pressed_is_recorded(harness: PressHarness) -> None:
    answered = harness.press("cancel")
    assert (answered.done, answered.outcome) == (True, "cancelled it: run 1")
    harness.harness.deliver()
    assert harness.harness.job_state() is JobState.CANCELLED
    assert harness.requested_by("Job Cancelled") == [BY]
    (note,) = harness.chat.messages.values()
    assert seen_in_slack(note.content).strip() == f"<@{USER}> cancelled it: run 1"


def test_who_redrives_a_cancelled_job_is_not_taken_for_who_cancelled_it(
    harness: PressHarness,
) -> None:
    harness.press("cancel")
    harness.harness.deliver()
    harness.harness.redrive()
    harness.harness.deliver()
    assert harness.harness.the_job().cancelled_by is None
    assert harness.requested_by("Task Redriven") == [None] * 3
    harness.harness.cancels.request_cancel(harness.harness.job)
    harness.harness.deliver()
    assert harness.requested_by("Job Cancelled") == [BY, None]


def refused(harness: PressHarness, request: SlackRequest) -> str:
    answered = harness.interactions.answer(request)
    assert answered.status is HTTPStatus.UNAUTHORIZED
    assert harness.harness.runs() == {"a": 1, "b": 1, "c": 1}
    assert not harness.harness.memory.dispatches.refs
    assert harness.replies.texts == []
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
def test_a_forged_press_is_refused(failed: PressHarness, forged: dict[str, Any]) -> None:
    assert refused(failed, replace(failed.request(), **forged))


def test_a_press_signed_with_another_secret_is_refused(failed: PressHarness) -> None:
    body = form_of(a_payload(failed.harness.job))
    request = signed(body, at_ms=failed.harness.clock.now_ms(), secret="another")
    assert "not Slack's" in refused(failed, request)


def test_a_late_press_is_refused(failed: PressHarness) -> None:
    request = failed.request()
    failed.harness.clock.advance(301)
    assert "too long ago" in refused(failed, request)


def test_a_replayed_press_is_refused(failed: PressHarness) -> None:
    """The first was refused for another reason, so that the second could do something."""
    request = failed.request(run=7)
    assert failed.interactions.answer(request).status is HTTPStatus.OK
    failed.replies.texts.clear()
    failed.harness.clock.advance(2)
    assert refused(failed, request) == "the request came before"


@pytest.mark.parametrize("secret", [None, "", "xoxb-bare-token", '{"botToken": "xoxb-1"}', "{"])
def test_without_a_signing_secret_there_is_nothing_here(
    failed: PressHarness, secret: str | None
) -> None:
    failed.secrets.secret = secret
    answered = failed.press()
    assert (answered.status, answered.done) == (HTTPStatus.NOT_FOUND, False)


def test_while_the_secret_cannot_be_read_nothing_is_believed(failed: PressHarness) -> None:
    failed.secrets.secret = "down"
    assert failed.press().status is HTTPStatus.SERVICE_UNAVAILABLE


def replied(harness: PressHarness, answered: Answer) -> str:
    assert (answered.status, answered.done) == (HTTPStatus.OK, False)
    assert not harness.chat.messages
    (text,) = harness.replies.texts
    return text


def test_a_press_that_is_too_early_is_answered_with_the_reason(harness: PressHarness) -> None:
    assert "has not settled yet" in replied(harness, harness.press())


def test_a_second_press_is_answered_with_the_reason(failed: PressHarness) -> None:
    failed.press()
    failed.chat.messages.clear()
    failed.harness.clock.advance(1)
    assert "being redriven already" in replied(failed, failed.press())


def test_a_button_of_an_older_run_says_so(failed: PressHarness) -> None:
    failed.press()
    failed.harness.deliver()
    failed.harness.settle("a", FAILED)
    failed.harness.deliver()
    failed.chat.messages.clear()
    failed.harness.clock.advance(1)
    assert "that was run 1" in replied(failed, failed.press())
    assert failed.harness.the_job().run == 2


def test_an_old_button_cancels_nothing_either(failed: PressHarness) -> None:
    failed.harness.redrive()
    failed.harness.deliver()
    assert "that was run 1" in replied(failed, failed.press("cancel"))


def test_a_press_for_an_unknown_job_is_answered(failed: PressHarness) -> None:
    job = replace(failed.harness.job, tenant="nobody")
    request = signed(form_of(a_payload(job)), at_ms=failed.harness.clock.now_ms())
    assert "there is no job" in replied(failed, failed.interactions.answer(request))


def test_an_action_whose_note_cannot_be_posted_is_done_all_the_same(failed: PressHarness) -> None:
    failed.interactions.presses.alerts.chats = MemoryConnector(None)
    answered = failed.press()
    assert (answered.done, answered.not_posted) == (True, "there is no token")


def test_a_reply_that_does_not_arrive_is_only_logged(harness: PressHarness) -> None:
    harness.replies.down = True
    assert harness.press().not_posted == "it answered 500"


@pytest.mark.parametrize(
    "url", ["", "https://evil.example/", "https://hooks.slack.com.evil.example/"]
)
def test_replies_go_to_slack_only(harness: PressHarness, url: str) -> None:
    answered = harness.press(response_url=url)
    assert answered.not_posted == "Slack named no URL for the reply"
    assert harness.replies.texts == []


STRANGER = "U0STRANGER"


def pressed_by_a_stranger(harness: PressHarness, action: str = "redrive") -> Answer:
    return harness.press(action, user={"id": STRANGER, "username": "eve"})


@pytest.mark.parametrize("action", ["redrive", "cancel"])
def test_a_press_of_a_user_who_is_on_no_list_does_nothing_and_only_that_user_reads_why(
    failed: PressHarness, action: str
) -> None:
    answered = pressed_by_a_stranger(failed, action)
    assert (answered.status, answered.done) == (HTTPStatus.OK, False)
    assert f"the Slack user {STRANGER} is neither among the operators" in answered.outcome
    assert answered.press
    assert answered.press.user_id == STRANGER
    (said,) = failed.replies.texts
    assert said.startswith("Nothing was done: the Slack user")
    assert failed.chat.messages == {}
    failed.harness.deliver()
    assert failed.harness.runs() == {"a": 1, "b": 1, "c": 1}


def test_an_operator_of_the_tenant_may_press_on_its_incidents_alone(failed: PressHarness) -> None:
    tenants = failed.harness.memory.tenants
    tenants.change("other", slack_operators=(STRANGER,))
    assert not pressed_by_a_stranger(failed).done
    failed.harness.clock.advance(1)
    tenants.change(failed.harness.job.tenant, slack_operators=(STRANGER,))
    assert pressed_by_a_stranger(failed).done


def test_with_nobody_listed_nobody_may_press(failed: PressHarness) -> None:
    presses = replace(failed.interactions.presses, operators=frozenset())
    failed.interactions = replace(failed.interactions, presses=presses)
    assert not failed.press().done


def test_while_the_lists_cannot_be_read_nobody_presses(
    failed: PressHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_reach(_tenant: str) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(failed.harness.memory.tenants, "find", out_of_reach)
    answered = failed.press()
    assert (answered.done, answered.outcome) == (False, TRY_AGAIN)
