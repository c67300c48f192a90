"""What a hostile child can say to the proxy, and what comes of it: a real process, raw sockets."""

import json
import select
import socket
import time
from contextlib import ExitStack
from typing import Any

import pytest

from switchyard_worker.parent.claude.proxy.accounts import MAX_PARALLEL, MAX_WAITING
from tests.fakes.servers.messages_api import messages_api
from tests.fakes.servers.messages_api_replies import fails, redirects, says, stalls
from tests.worker.parent.claude.proxy_place import BODY, Place, place, request, shared
from tests.worker.proxied import (
    API_KEY,
    QUESTION,
    ask,
    connect,
    proxied,
    say,
    until_it_ends,
)

STREAMED = QUESTION | {"stream": True}


__all__ = ["place", "shared"]  # fixtures


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"])
def test_the_token_is_replaced_by_the_credential(header: str, name: str) -> None:
    pytest.importorskip("h11")
    with messages_api() as api, proxied(api.url, name=name) as proxy:
        access = proxy.open()
        token = access.given.token
        given = {"x-api-key": token} if header == "x-api-key" else {"x-api-key": ""}
        if header == "authorization":
            given["authorization"] = f"Bearer {token}"
        beta = {"anthropic-beta": "oauth-2025-04-20,other", "anthropic-version": "2023-06-01"}
        assert ask(access, headers=given | beta).status == 200

    [heard] = api.heard
    as_key = header == "x-api-key" and name == "ANTHROPIC_API_KEY"
    expected = f"x-api-key: {API_KEY}" if as_key else f"authorization: Bearer {API_KEY}"
    assert expected.lower() in heard.lower()
    assert heard.count(API_KEY) == 1
    assert token not in heard
    assert "anthropic-beta: oauth-2025-04-20,other" in heard


def test_an_answer_does_not_show_the_credential(place: Place) -> None:
    head = request(place, "host: x", f"content-length: {len(BODY)}", "connection: close")

    assert API_KEY.encode() not in say(place.access, head + BODY)


@pytest.mark.parametrize(
    "token", ["", "wrong", API_KEY, "sk-ant-task-", "\xff\xfe", "x" * 10_000], ids=repr
)
def test_a_wrong_token_opens_nothing(place: Place, token: str) -> None:
    answered = ask(place.access, token=token, headers={"authorization": "" if token else "Basic x"})

    assert (answered.status, answered.error[0]) == (401, "authentication_error")
    assert not place.api.heard


def test_two_tokens_are_as_good_as_none(place: Place) -> None:
    other = place.proxy.open()

    answered = ask(place.access, headers={"authorization": f"Bearer {other.given.token}"})

    assert answered.status == 401
    place.proxy.revoke(other)


def test_a_token_dies_with_its_attempt_and_no_other_does(place: Place) -> None:
    other = place.proxy.open()
    place.proxy.revoke(other)

    assert ask(other).status == 401
    assert ask(place.access).status == 200


def test_a_token_dies_when_its_time_is_over(place: Place) -> None:
    late = place.proxy.open(seconds=0.0)

    assert ask(late).status == 401


def test_revoking_cuts_what_is_under_way_and_says_what_was_reported(place: Place) -> None:
    access = place.proxy.open(cap_usd=1.0)
    place.answering(stalls(after_events=2))
    with connect(access) as line:
        body = json.dumps(STREAMED).encode()
        head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {access.given.token}\r\n"
        line.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        heard = line.recv(65536)
        while b"message_start" not in heard:  # which says what was read; the head may come alone
            heard += line.recv(65536)
        place.proxy.revoke(access)
        rest = until_it_ends(line)

    assert heard.startswith(b"HTTP/1.1 200")
    assert not rest.endswith(b"0\r\n\r\n")  # so that nobody takes it for a whole answer
    assert access.spent.final
    assert (access.usage.input_tokens, access.usage.output_tokens) == (12, 1)
    assert access.spent.uncertain_usd > 0


def test_headers_that_could_redirect_or_tell_more_stay_here(place: Place) -> None:
    hostile = {
        "Host": "evil.example",
        "x-forwarded-host": "evil.example",
        "forwarded": "host=evil.example",
        "proxy-authorization": "Basic x",
        "cookie": "a=b",
        "x-http-method-override": "DELETE",
        "x-original-url": "/v1/files",
        "x-custom": "evil.example",
        "accept-encoding": "gzip",
        "content-type": "text/plain",
        "x-stainless-lang": "js",
    }

    assert ask(place.access, headers=hostile).status == 200

    [heard] = place.api.heard
    assert "evil.example" not in heard
    assert "cookie" not in heard.lower()
    assert "x-original-url" not in heard.lower()
    assert "accept-encoding: identity" in heard
    assert "content-type: application/json" in heard
    assert "x-stainless-lang: js" in heard


def test_the_way_to_the_api_leads_through_the_workers_own_proxy() -> None:
    pytest.importorskip("h11")
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(20)
        way = f"http://127.0.0.1:{elsewhere.getsockname()[1]}"
        with proxied("https://api.example", HTTPS_PROXY=way) as proxy:
            access = proxy.open()
            with connect(access) as line:
                head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {access.given.token}"
                line.sendall(f"{head}\r\ncontent-length: {len(BODY)}\r\n\r\n".encode() + BODY)
                asked, _ = elsewhere.accept()
                with asked:
                    heard = asked.recv(65536)

    assert heard.startswith(b"CONNECT api.example:443 HTTP/1.1")
    assert API_KEY.encode() not in heard


def test_a_redirect_is_not_followed_nor_passed_on(place: Place) -> None:
    with messages_api() as elsewhere:
        place.answering(redirects(elsewhere.url + "/v1/messages"))
        answered = ask(place.access)

    assert answered.status == 502
    assert "location" not in answered.headers
    assert not elsewhere.heard


def test_an_error_of_the_api_passes_through_with_its_wish_to_wait(place: Place) -> None:
    place.answering(fails(429, retry_after="7"))

    answered = ask(place.access)

    assert (answered.status, answered.headers["retry-after"]) == (429, "7")
    assert answered.error[0] == "rate_limit_error"


def test_counting_is_forwarded_and_costs_nothing(place: Place) -> None:
    place.api.input_tokens = 77

    answered = ask(place.access, target="/v1/messages/count_tokens?beta=true")

    assert answered.json == {"input_tokens": 77}
    assert place.api.heard[0].startswith("/v1/messages/count_tokens?beta=true\n")
    place.proxy.revoke(place.access)
    assert place.access.usage.cost_usd == 0


def test_what_was_refused_is_reported_to_the_worker(place: Place) -> None:
    ask(place.access, QUESTION | {"model": "claude-opus-5-5"})
    ask(place.access, target="/v1/files")
    place.proxy.revoke(place.access)

    assert place.access.refusals == {"model": 1, "path": 1}


def test_what_is_no_request_at_all_is_logged_by_the_worker(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    say(place.access, b"\x16\x03\x01" + bytes(300))
    until = time.monotonic() + 10
    while "protocol" not in _reasons(caplog) and time.monotonic() < until:
        time.sleep(0.05)
    assert "protocol" in _reasons(caplog)


def _reasons(caplog: pytest.LogCaptureFixture) -> list[str]:
    failed = [r for r in caplog.records if r.getMessage() == "requests to Claude failed"]
    return [vars(record)["reason"] for record in failed]


def test_a_client_that_says_nothing_or_half_of_it_is_left(place: Place) -> None:
    with connect(place.access) as silent, connect(place.access) as slow:
        slow.sendall(b"POST /v1/messages HTTP/1.1\r\n")
        silent.settimeout(15)
        assert silent.recv(1) == b""
        assert slow.recv(1) == b""


def test_many_silent_connections_keep_nobody_out(place: Place) -> None:
    with ExitStack() as stack:
        for _ in range(600):
            stack.enter_context(connect(place.access))
        assert ask(place.access).status == 200


def test_a_task_that_floods_is_slowed_alone(place: Place) -> None:
    other, too_many = place.proxy.open(), 8
    body = json.dumps(STREAMED).encode()
    place.answering(stalls(after_events=1))
    head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {place.access.given.token}\r\n"
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(place.access)) for _ in range(MAX_WAITING + too_many)]
        for line in lines:
            line.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        heard = [line.recv(12) for line in answered_of(lines, MAX_PARALLEL + too_many)]
        place.answering(says())
        assert ask(other).status == 200
        assert len(place.api.requests) == MAX_PARALLEL + 1

    assert heard.count(b"HTTP/1.1 200") == MAX_PARALLEL
    assert heard.count(b"HTTP/1.1 429") == too_many
    place.proxy.revoke(other)


def answered_of(lines: list[socket.socket], count: int) -> list[socket.socket]:
    """Return the requests that have something to read, once there are so many."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        readable, _, _ = select.select(lines, [], [], 0.1)
        if len(readable) >= count:
            return readable
    raise TimeoutError(f"fewer than {count} were answered")


def test_the_proxy_is_not_reachable_from_elsewhere(place: Place) -> None:
    assert place.access.given.endpoint.startswith("http://127.0.0.1:")


def test_tokens_are_long_and_differ(place: Place) -> None:
    other = place.proxy.open()
    tokens: set[Any] = {place.access.given.token, other.given.token}
    place.proxy.revoke(other)

    assert len(tokens) == 2
    assert all(len(token) >= len("sk-ant-task-") + 43 for token in tokens)  # 256 bits
