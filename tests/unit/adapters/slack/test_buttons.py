"""Parses what Slack may send, and refuses what it may not, although Slack signed it."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.fakes.slack.interactions import PressHarness
from tests.fakes.slack.press import USER, signed
from tests.fakes.slack.text import seen_in_slack


@pytest.fixture
def failed() -> PressHarness:
    harness = PressHarness()
    harness.fail()
    return harness


@pytest.mark.parametrize(
    "body",
    [b"", b"payload=", b"payload=%7B", b"\xff", b"other=1", b"payload=" + b"[" * 100_000],
    ids=lambda body: repr(body[:20]),
)
def test_a_payload_that_is_no_press_is_refused(failed: PressHarness, body: bytes) -> None:
    answered = failed.interactions.answer(signed(body, at_ms=failed.harness.clock.now_ms()))
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
def test_a_press_with_strange_parts_is_refused(
    failed: PressHarness, strange: dict[str, Any]
) -> None:
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
def test_what_concerns_others_is_left_alone(failed: PressHarness, other: dict[str, Any]) -> None:
    answered = failed.press(**other)
    assert (answered.status, answered.press) == (HTTPStatus.OK, None)


def test_names_of_people_steer_nothing(failed: PressHarness) -> None:
    failed.press(user={"id": USER, "username": "ada\x1b[31m\n<!channel>"})
    failed.harness.deliver()
    (by, _) = failed.requested_by("Task Redriven")
    assert by == f"ada[31m <!channel> (Slack {USER})"
    assert all(
        "<!" not in seen_in_slack(note.content).strip() for note in failed.chat.messages.values()
    )
