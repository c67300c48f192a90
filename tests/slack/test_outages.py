"""Slack may be busy, down, or silent about what it did: each alert is posted later, and once."""

from typing import Any

import pytest

from switchyard.adapters.memory.chat import MemoryConnector
from switchyard.adapters.slack.chat import SlackChat
from switchyard.domain.alerts.alerts import LEASE, Alert, PublishStatus
from switchyard.domain.alerts.subjects import parse_subject
from switchyard.domain.errors import Unavailable
from switchyard.ports.alerting import Posted
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from tests.fakes.slack_api import HISTORY, LIST, POST, REPLIES, UPDATE, Fault
from tests.slack.conftest import Stage
from tests.slack.incidents import KEY, an_incident, job_subject, over, stuck

LOST = [
    pytest.param({"cut": True, "accepted": True}, id="cut after it was done"),
    pytest.param({"cut": True}, id="cut before it was done"),
    pytest.param({"status": 500, "accepted": True}, id="500 after it was done"),
    pytest.param({"status": 503}, id="503 before it was done"),
    pytest.param({"error": "internal_error", "accepted": False}, id="an error of Slack's own"),
]


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
    told = stage.run(an_incident())
    assert told.status is PublishStatus.POSTPONED
    assert "cannot be reached" in told.reason
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


@pytest.mark.parametrize("fault", LOST)
def test_a_first_message_whose_answer_was_lost_is_not_posted_twice(
    stage: Stage, fault: dict[str, object]
) -> None:
    stage.slack.faults = [Fault(method=POST, **fault)]  # type: ignore[arg-type]
    stage.run(an_incident())
    for _ in range(9):
        stage.run(an_incident())
    assert len(stage.slack.messages) == 1
    assert stage.due == []


@pytest.mark.parametrize("fault", LOST)
def test_news_and_pages_whose_answers_were_lost_are_not_posted_twice(
    stage: Stage, fault: dict[str, object]
) -> None:
    stage.run(stuck(1))
    stage.slack.faults = [Fault(method=POST, **fault)]  # type: ignore[arg-type]
    stage.run(stuck(60))
    stage.slack.faults = [Fault(method=POST, **fault)]  # type: ignore[arg-type]
    for _ in range(9):
        stage.run(stuck(60))
    seen = sorted(message.seen.split("\n")[0] for message in stage.slack.thread())
    assert seen == [
        "# 🔴 60 stuck tasks, 0 overtime tasks (2 of 2)",
        "🔴 Now: 60 stuck tasks, 0 overtime tasks",
    ]


@pytest.mark.parametrize("fault", LOST)
def test_an_end_whose_answer_was_lost_is_posted_once(
    stage: Stage, fault: dict[str, object]
) -> None:
    stage.run(an_incident())
    stage.slack.faults = [Fault(method=POST, **fault)]  # type: ignore[arg-type]
    for _ in range(9):
        stage.run(over())
    assert [reply.seen.strip() for reply in stage.slack.thread()] == ["✅ Over: it completed"]


def test_an_incident_that_was_over_before_its_lost_message_was_found_is_ended(stage: Stage) -> None:
    stage.slack.faults = [Fault(method=POST, cut=True, accepted=True)]
    stage.run(an_incident())
    assert stage.run(over()).status is PublishStatus.RECOVERED
    (main,) = stage.slack.mains
    assert main.seen.startswith("# ✅")


def test_an_incident_that_was_over_before_it_could_be_posted_is_not_posted(stage: Stage) -> None:
    stage.slack.faults = [Fault(method=POST, cut=True)]
    stage.run(an_incident())
    assert stage.run(over()).status is PublishStatus.UNCHANGED
    assert stage.slack.messages == []
    assert stage.due == []


def test_a_lost_message_is_not_mistaken_for_one_of_an_earlier_incident(stage: Stage) -> None:
    stage.run(an_incident())
    stage.run(over(), after=5)
    stage.slack.faults = [Fault(method=POST, cut=True)]
    stage.run(an_incident(), after=5)
    stage.run(an_incident(), after=5)
    assert [main.seen.split()[1] for main in stage.slack.mains] == ["✅", "🔴"]


def test_without_the_right_to_look_it_is_posted_again_and_said_which_right_is_missing(
    stage: Stage,
) -> None:
    stage.slack.faults = [
        Fault(method=POST, cut=True, accepted=True),
        Fault(method=LIST, error="missing_scope"),
    ]
    stage.run(an_incident())
    told = stage.run(an_incident())
    assert told.status is PublishStatus.POSTED
    assert "channels:history" in told.reason
    assert len(stage.slack.messages) == 2


def test_who_posted_before_knows_the_channel_and_need_not_ask_for_it(stage: Stage) -> None:
    publisher = stage.publisher()
    publisher.publish(an_incident(subject=job_subject("another")))
    stage.slack.faults = [Fault(method=POST, cut=True, accepted=True)]
    publisher.publish(an_incident())
    stage.clock.advance(60)
    publisher.publish(an_incident())
    assert stage.slack.calls == [POST, POST, HISTORY, UPDATE, REPLIES]


def test_a_look_that_fails_is_repeated_before_anything_is_posted(stage: Stage) -> None:
    stage.slack.faults = [
        Fault(method=POST, cut=True, accepted=True),
        Fault(method=HISTORY, status=500),
    ]
    for _ in range(3):
        stage.run(an_incident())
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


def test_after_a_process_died_the_next_one_looks_before_it_posts(stage: Stage) -> None:
    taken = stage.store.lease(Alert(key=KEY), now_ms=stage.clock.now_ms())
    assert taken is not None
    assert stage.run(an_incident(), after=1).status is PublishStatus.POSTPONED
    assert stage.slack.calls == []
    assert stage.run(an_incident(), after=LEASE / 1000).status is PublishStatus.POSTED
    assert stage.slack.calls == [LIST, HISTORY, POST, REPLIES]


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
