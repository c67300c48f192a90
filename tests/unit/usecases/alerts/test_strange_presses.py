"""What Slack may send, and what it may not, although it signed it."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.fakes.slack_office import Office
from tests.fakes.slack_press import USER, signed


@pytest.fixture
def failed() -> Office:
    office = Office()
    office.fail()
    return office


@pytest.mark.parametrize(
    "body",
    [b"", b"payload=", b"payload=%7B", b"\xff", b"other=1", b"payload=" + b"[" * 100_000],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_no_press_is_told_apart(failed: Office, body: bytes) -> None:
    answered = failed.desk.answer(signed(body, at_ms=failed.yard.clock.now_ms()))
    assert answered.status is HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    "strange",
    [
        {"user": {"id": "<!channel>"}},
        {"user": {}},
        {"actions": []},
        {"container": {"channel_id": "C1", "message_ts": "x"}},
        {"actions": [{"action_id": "switchyard_redrive", "value": "{}"}]},
        {
            "actions": [
                {
                    "action_id": "switchyard_redrive",
                    "value": '{"tenant": "a#b", "job": "job-1", "run": 1}',
                }
            ]
        },
    ],
    ids=str,
)
def test_a_press_with_strange_parts_is_refused(failed: Office, strange: dict[str, Any]) -> None:
    assert failed.press(**strange).status is HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    "other",
    [
        {"type": "view_submission"},
        {"type": "shortcut", "user": None},
        {"actions": [{"action_id": "somebody_elses", "value": "x"}]},
    ],
    ids=str,
)
def test_what_concerns_others_is_left_alone(failed: Office, other: dict[str, Any]) -> None:
    answered = failed.press(**other)
    assert (answered.status, answered.press) == (HTTPStatus.OK, None)


def test_names_of_people_steer_nothing(failed: Office) -> None:
    failed.press(user={"id": USER, "username": "ada\x1b[31m\n<!channel>"})
    failed.yard.deliver()
    (told, _) = failed.told("Task Redriven")
    assert told == f"ada[31m <!channel> (Slack {USER})"
    assert all("<!" not in note.page.text for note in failed.chat.messages.values())
