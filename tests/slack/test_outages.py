"""Slack is busy, down or refuses: each alert is posted later, and once."""

from typing import Any

import pytest

from switchyard.adapters.slack.chat import SlackChat
from switchyard.domain.alerts.alerts import Alert, PublishStatus
from switchyard.domain.alerts.subjects import parse_subject
from switchyard.domain.errors import Unavailable
from switchyard.ports.alerting import Posted
from switchyard.testing.chat import MemoryConnector
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from tests.fakes.slack.api import POST, REPLIES, Fault
from tests.slack.conftest import Stage
from tests.slack.incidents import KEY, an_incident, job_subject


def test_a_short_wait_is_waited_for(stage: Stage) -> None:
    stage.slack.faults = [Fault(status=429, retry_after="3")]
    began_ms = stage.clock.now_ms()
    assert stage.run(an_incident(), after=0).status is PublishStatus.POSTED
    assert stage.clock.now_ms() - began_ms == 3_000
    assert len(stage.slack.messages) == 1


@pytest.mark.parametrize(("retry_after", "seconds"), [("90", 90), (None, 30), ("soon", 30)])
def test_a_long_wait_is_left_for_another_run_which_comes_not_too_soon(
    stage: Stage, retry_after: str | None, seconds: int
) -> None:
    stage.slack.faults = [Fault(status=429, retry_after=retry_after)]
    assert stage.run(an_incident()).status is PublishStatus.POSTPONED
    assert stage.run(an_incident(), after=seconds - 1).status is PublishStatus.POSTPONED
    assert stage.slack.calls == [POST]
    assert stage.due == []
    stage.clock.advance(1)
    assert stage.due == [KEY]
    assert stage.run(an_incident(), after=0).status is PublishStatus.POSTED
    assert stage.slack.calls == [POST, POST]


def test_a_channel_that_asked_to_wait_is_left_alone_for_so_long_and_others_are_not(
    stage: Stage,
) -> None:
    stage.slack.faults = [Fault(status=429, retry_after="30")]
    publisher = stage.publisher()
    for number in range(5):
        assert (
            publisher.publish(an_incident(subject=job_subject(str(number), "a"))).status
            is PublishStatus.POSTPONED
        )
    assert stage.slack.calls == [POST]
    elsewhere = an_incident(subject=job_subject("5", "a"), channel="#elsewhere")
    assert publisher.publish(elsewhere).status is PublishStatus.POSTED
    stage.clock.advance(30)
    assert len(stage.due) == 5
    for subject in stage.due:
        assert (
            publisher.publish(an_incident(subject=parse_subject(subject))).status
            is PublishStatus.POSTED
        )


def test_no_function_spends_its_time_on_waiting(stage: Stage) -> None:
    stage.slack.lasting = Fault(status=429, retry_after="2")
    publisher, began_ms = stage.publisher(), stage.clock.now_ms()
    for number in range(20):
        publisher.publish(an_incident(subject=job_subject(str(number), "a")))
        stage.clock.advance(1)
    waited_ms = stage.clock.now_ms() - began_ms - 20_000
    assert 2_000 <= waited_ms <= 10_000


def test_an_outage_is_over_when_the_next_run_finds_it_so(stage: Stage) -> None:
    stage.slack.lasting = Fault(status=503)
    assert [stage.run(an_incident()).status for _ in range(5)] == [PublishStatus.POSTPONED] * 5
    assert stage.due == [KEY]
    stage.slack.lasting = None
    assert stage.run(an_incident()).status is PublishStatus.POSTED
    assert len(stage.slack.messages) == 1
    assert stage.due == []


def test_while_slack_does_not_answer_one_process_calls_it_once(stage: Stage) -> None:
    stage.slack.lasting = Fault(status=503)
    publisher = stage.publisher()
    for number in range(5):
        publisher.publish(an_incident(subject=job_subject(str(number))))
    assert stage.slack.calls == [POST]
    assert len(stage.due) == 5


def test_a_slack_that_nobody_can_reach_costs_nothing_but_time(stage: Stage) -> None:
    stage.slack.url = "http://127.0.0.1:1/api/"
    emitted = stage.run(an_incident())
    assert emitted.status is PublishStatus.POSTPONED
    assert "cannot be reached" in emitted.reason
    alert = stage.store.find(KEY)
    assert alert is not None
    assert not alert.unsure


def test_a_slack_that_never_answers_is_given_up_waiting_for(stage: Stage) -> None:
    stage.slack.faults = [Fault(hangs=True, accepted=True)]
    assert (
        stage.publisher(seconds_per_call=1).publish(an_incident()).status is PublishStatus.POSTPONED
    )
    assert stage.run(an_incident()).status is PublishStatus.POSTED
    assert len(stage.slack.messages) == 1


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        ("invalid_auth", "token"),
        ("channel_not_found", "name or id"),
        ("not_in_channel", "invite"),
        ("missing_scope", "chat:write"),
    ],
)
def test_a_refusal_says_what_mends_it_once_and_is_tried_again_later(
    stage: Stage, error: str, fix: str
) -> None:
    stage.slack.lasting = Fault(error=error)
    publisher = stage.publisher()
    first = publisher.publish(an_incident())
    stage.clock.advance(601)
    second = publisher.publish(an_incident())
    assert (first.status, first.repeated) == (PublishStatus.POSTPONED, False)
    assert fix in first.reason
    assert (second.status, second.repeated) == (PublishStatus.POSTPONED, True)
    stage.slack.lasting = None
    assert stage.run(an_incident(), after=601).status is PublishStatus.POSTED


def test_after_a_day_of_refusals_only_a_new_event_tries_it_again(stage: Stage) -> None:
    stage.slack.lasting = Fault(error="channel_not_found")
    stage.run(an_incident())
    assert stage.run(an_incident(), after=24 * 3600).status is PublishStatus.GIVEN_UP
    stage.clock.advance(24 * 3600)
    assert stage.due == []
    stage.slack.lasting = None
    assert stage.run(an_incident()).status is PublishStatus.POSTED


def test_a_change_while_another_process_posts_is_checked_again(stage: Stage) -> None:
    taken = stage.store.lease(Alert(key=KEY), now_ms=stage.clock.now_ms())
    assert taken is not None
    assert stage.run(an_incident(), after=1).status is PublishStatus.POSTPONED
    assert stage.store.save(
        taken.published(an_incident("partly failed"), now_ms=stage.clock.now_ms())
    )
    assert stage.due == [KEY]


def test_of_two_at_once_one_posts_and_the_other_requests_an_update(
    stage: Stage,
) -> None:
    class Slow(SlackChat):
        def post(self, *args: Any, **kwargs: Any) -> Posted:
            statuses.append(stage.run(an_incident(), after=1).status)
            return super().post(*args, **kwargs)

    statuses: list[PublishStatus] = []
    publisher = stage.publisher()
    chat = publisher.chats.connect()
    assert isinstance(chat, SlackChat)
    publisher.chats = MemoryConnector(Slow(client=chat.client, clock=stage.clock))
    first = publisher.publish(an_incident())
    assert (statuses, first.status) == ([PublishStatus.POSTPONED], PublishStatus.POSTED)
    assert first.update_requested
    assert len(stage.slack.messages) == 1
    assert stage.due == [KEY]
    stage.run(an_incident())
    assert (len(stage.slack.messages), stage.due) == (1, [])


def test_without_the_secret_store_it_is_posted_later(stage: Stage) -> None:
    class Down:
        def connect(self) -> None:
            raise Unavailable("no answer")

    publisher = AlertPublisher(store=stage.store, chats=Down(), channel="#ops", clock=stage.clock)
    assert publisher.publish(an_incident()).status is PublishStatus.POSTPONED
    assert stage.due == [KEY]
    assert stage.run(an_incident()).status is PublishStatus.POSTED
    assert REPLIES not in stage.slack.calls
