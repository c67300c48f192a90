"""Which requests the proxy forwards: paths, heads, models and bodies that a child may try."""

import pytest

from switchyard_worker.parent.claude.proxy.asked import MAX_BODY_BYTES
from tests.worker.parent.claude.proxy_place import BODY, Place, place, request, shared
from tests.worker.proxied import HAIKU, QUESTION, ask, parsed, say

__all__ = ["place", "shared"]  # fixtures


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/messages"),
        ("HEAD", "/"),
        ("GET", "/"),
        ("DELETE", "/v1/messages"),
        ("POST", "/v1/messages/"),
        ("POST", "/v1/messages/../files"),
        ("POST", "//v1/messages"),
        ("POST", "/v1//messages"),
        ("POST", "/v1/%6dessages"),
        ("POST", "/v1/messages%2f..%2ffiles"),
        ("POST", "/v1/messages/%2e%2e/files"),
        ("POST", "/v1/messages;x"),
        ("POST", "/v1/messages?beta=true&x=1"),
        ("POST", "/v1/messages?beta=false"),
        ("POST", "/v1/messages#x"),
        ("POST", "/V1/MESSAGES"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/files"),
        ("POST", "/v1/complete"),
        ("GET", "/v1/models"),
        ("GET", "/v1/organizations/me"),
        ("POST", "http://127.0.0.1/v1/messages"),
        ("POST", "https://evil.example/v1/messages"),
        ("OPTIONS", "*"),
        ("CONNECT", "api.anthropic.com:443"),
        ("TRACE", "/v1/messages"),
    ],
)
def test_only_messages_and_their_count_are_open(place: Place, method: str, target: str) -> None:
    answered = ask(place.access, target=target, method=method)

    assert answered.status == 403
    if method != "HEAD":
        assert answered.error[0] == "permission_error"
    assert not place.api.heard


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["host: x", f"content-length: {len(BODY)}", "content-length: 5"], 400),
        (["host: x", f"content-length: {len(BODY)}, 5"], 400),
        (["host: x", f"content-length: {len(BODY)}", "transfer-encoding: chunked"], 400),
        (["host: x", "transfer-encoding: chunked"], 400),
        (["host: x", "transfer-encoding: gzip, chunked"], 501),
        (["host: x", "transfer-encoding : chunked", f"content-length: {len(BODY)}"], 400),
        (["host: x", "content-length: +5"], 400),
        (["host: x", "content-length: -5"], 400),
        (["host: x"], 411),
        (["host: x", "host: y", f"content-length: {len(BODY)}"], 400),
        ([f"content-length: {len(BODY)}"], 400),
        (["host: x", f"content-length: {len(BODY)}", "upgrade: h2c"], 400),
        (["host: x", f"content-length: {len(BODY)}", "content-encoding: gzip"], 400),
        (["host: x", f"content-length: {len(BODY)}", "x: a\rb"], 400),
        (["host: x", f"content-length: {len(BODY)}", "x: a\x00b"], 400),
        (["host: x", f"content-length: {len(BODY)}", " folded"], 400),
        (["host: x", f"content-length: {len(BODY)}", "x: " + "a" * 100_000], 431),
        (["host: x", f"content-length: {MAX_BODY_BYTES + 1}"], 413),
        (["host: x", f"content-length: {10**30}"], 400),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_request_has_one_meaning(place: Place, lines: list[str], status: int) -> None:
    raw = say(place.access, request(place, *lines, "connection: close") + BODY)

    assert parsed(raw).status == status
    assert len(place.api.heard) == (status == 200)


def test_what_follows_a_request_is_another_request_with_its_own_token(place: Place) -> None:
    first = request(place, "host: x", f"content-length: {len(BODY)}") + BODY
    second = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}"

    raw = say(place.access, first + second)

    assert raw.count(b"HTTP/1.1 200") == 1
    assert raw.count(b"HTTP/1.1 401") == 1
    assert len(place.api.heard) == 1


def test_another_model_is_refused_by_name(place: Place) -> None:
    answered = ask(place.access, QUESTION | {"model": "claude-opus-5-5"})

    assert (answered.status, answered.error[0]) == (400, "invalid_request_error")
    assert "claude-opus-5-5" in answered.error[1]
    assert HAIKU in answered.error[1]
    assert not place.api.heard


def test_the_last_of_two_models_is_checked_and_sent(place: Place) -> None:
    """Parsers differ in which of two equal names counts; so the request is written anew."""
    twice = BODY[:-1] + b', "model": "claude-opus-5-5"}'
    thrice = BODY.replace(b"{", b'{"model": "claude-opus-5-5", ', 1)

    assert ask(place.access, twice).status == 400
    assert ask(place.access, thrice).status == 200
    assert "opus" not in place.api.heard[0]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"not json", 400),
        (b"[" * 500_000, 400),
        (b'{"a":' * 100_000, 400),
        (b"[" + b"[]," * 600_000 + b"[]]", 413),
        (b'{"model": ' + b"9" * 100_000 + b"}", 400),
        (b'{"max_tokens": NaN}', 400),
        (BODY.replace(b"Choose.", b"\xff\xfe"), 400),
        (BODY.replace(b"Choose.", b"\\ud800"), 400),
        (BODY.replace(b"1000", b"-1"), 400),
        (BODY.replace(b"1000", b"true"), 400),
        (BODY.replace(b"1000", b"1e9"), 400),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_body_that_is_not_understood_is_refused(place: Place, body: bytes, status: int) -> None:
    answered = ask(place.access, body)

    assert answered.status == status
    assert not place.api.heard
