"""Calls of Slack whose answer was lost: Switchyard looks for the message before it repeats one."""

import pytest

from switchyard.domain.alerts.alerts import LEASE, Alert, PublishStatus
from tests.fakes.slack.api import HISTORY, LIST, POST, REPLIES, UPDATE, Fault
from tests.slack.conftest import Stage
from tests.slack.incidents import KEY, an_incident, job_subject, over, stuck

LOST = [
    pytest.param({"cut": True, "accepted": True}, id="cut after it was done"),
    pytest.param({"cut": True}, id="cut before it was done"),
    pytest.param({"status": 500, "accepted": True}, id="500 after it was done"),
    pytest.param({"status": 503}, id="503 before it was done"),
    pytest.param({"error": "internal_error", "accepted": False}, id="an error of Slack's own"),
]


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
    emitted = stage.run(an_incident())
    assert emitted.status is PublishStatus.POSTED
    assert "channels:history" in emitted.reason
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


def test_after_a_process_died_the_next_one_looks_before_it_posts(stage: Stage) -> None:
    taken = stage.store.lease(Alert(key=KEY), now_ms=stage.clock.now_ms())
    assert taken is not None
    assert stage.run(an_incident(), after=1).status is PublishStatus.POSTPONED
    assert stage.slack.calls == []
    assert stage.run(an_incident(), after=LEASE / 1000).status is PublishStatus.POSTED
    assert stage.slack.calls == [LIST, HISTORY, POST, REPLIES]
