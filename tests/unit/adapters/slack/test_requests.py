"""Signatures: Slack's, which we check, and ours, which others do."""

import hashlib
import hmac

import pytest
from slack_sdk.signature import Clock, SignatureVerifier

from switchyard.adapters.slack.requests import (
    name_of_signature,
    problem_with_signature,
    signature_of,
)
from switchyard.contracts.webhooks import delivery_id, signature_header
from tests.builders import NOW_MS

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
BODY = b"payload=%7B%22type%22%3A%22block_actions%22%7D"
NOW = NOW_MS // 1000


class Stopped(Clock):
    def now(self) -> float:
        return NOW


def problem(
    *,
    secret: str = SECRET,
    body: bytes = BODY,
    age: float = 0,
    signed: str | None = None,
    timestamp: str = str(NOW),
) -> str | None:
    given = signature_of(SECRET, timestamp=timestamp, body=BODY) if signed is None else signed
    return problem_with_signature(
        secret,
        timestamp=timestamp,
        signature=given,
        body=body,
        now_ms=NOW_MS + int(age * 1000),
    )


def test_a_signature_is_the_one_that_slacks_own_library_makes() -> None:
    theirs = SignatureVerifier(SECRET, Stopped())
    ours = signature_of(SECRET, timestamp=str(NOW), body=BODY)
    assert theirs.generate_signature(timestamp=str(NOW), body=BODY) == ours
    assert theirs.is_valid(body=BODY, timestamp=str(NOW), signature=ours)


def test_what_slack_signed_has_no_problem() -> None:
    assert problem() is None


@pytest.mark.parametrize("age", [-300, -299, 299, 300])
def test_within_five_minutes_it_is_fresh(age: int) -> None:
    assert problem(age=age) is None


@pytest.mark.parametrize("age", [-3600, -300.001, 300.001, 301, 86_400])
def test_beyond_five_minutes_a_request_is_refused_though_it_is_signed(age: float) -> None:
    assert "too long ago" in (problem(age=age) or "")


@pytest.mark.parametrize(
    "forged",
    [
        {"body": BODY + b"x"},
        {"body": b""},
        {"secret": "another"},
        {"signed": ""},
        {"signed": "v0="},
        {"signed": "v0=é"},
        {"signed": "v1=" + "0" * 64},
        {"signed": signature_of("another", timestamp=str(NOW), body=BODY)},
        {"signed": signature_of(SECRET, timestamp=str(NOW - 1), body=BODY)},
    ],
)
def test_what_is_forged_is_refused(forged: dict[str, str | bytes]) -> None:
    assert "not Slack's" in (problem(**forged) or "")  # type: ignore[arg-type]


@pytest.mark.parametrize("timestamp", ["", "x", "-1", "1e9", f"{NOW}\n", "٣", "9" * 13])
def test_a_time_that_is_none_is_refused(timestamp: str) -> None:
    assert "when it was sent" in (problem(timestamp=timestamp) or "")


def test_without_a_secret_nothing_is_accepted() -> None:
    empty = signature_of("", timestamp=str(NOW), body=BODY)
    assert "no secret" in (problem(secret="", signed=empty) or "")


def test_a_signature_is_remembered_under_a_name_that_does_not_reveal_it() -> None:
    names = {name_of_signature(signature) for signature in ("v0=a", "v0=a", "v0=b")}
    assert len(names) == 2
    assert not any("v0" in name for name in names)


def test_a_webhooks_signature_covers_the_time_and_the_body() -> None:
    digest = hmac.new(b"secret", f"{NOW}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert signature_header("secret", BODY, at_seconds=NOW) == f"t={NOW},v1={digest}"
    others = {
        signature_header("secret", BODY, at_seconds=NOW + 1),
        signature_header("secret", BODY + b" ", at_seconds=NOW),
        signature_header("Secret", BODY, at_seconds=NOW),
    }
    assert len({other.partition("v1=")[2] for other in others} | {digest}) == 4


def test_an_id_is_that_of_what_is_told() -> None:
    assert delivery_id("job/acme/a", "failed/1") == delivery_id("job/acme/a", "failed/1")
    ids = {delivery_id("a", "b"), delivery_id("a", "c"), delivery_id("b", "b")}
    assert len(ids) == 3
