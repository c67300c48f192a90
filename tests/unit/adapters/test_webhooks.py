"""Webhooks against a server on this machine."""

import json
import socket
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from switchyard.adapters.webhooks import HttpWebhooks, look_up
from switchyard.domain.errors import Unavailable
from tests.fakes.servers.webhook_server import (
    WebhookServer,
    a_certificate,
    a_closed_port,
    a_webhook,
    status,
)

BODY = json.dumps({"id": "1"}).encode()
HEADERS = {"Content-Type": "application/json", "Switchyard-Id": "1"}
HOST = "hooks.example"


@pytest.fixture
def server() -> Iterator[WebhookServer]:
    with a_webhook() as server:
        yield server


class Resolver:
    """Answers with one list of addresses after the other."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self._answers[min(len(self.asked), len(self._answers)) - 1]


def nobody_knows(host: str, port: int) -> Sequence[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def nearby(**options: object) -> HttpWebhooks:
    return HttpWebhooks(nearby_allowed=True, **options)  # type: ignore[arg-type]


def refused(webhooks: HttpWebhooks, url: str) -> str:
    with pytest.raises(Unavailable) as error:
        webhooks.post(url, BODY, HEADERS)
    return str(error.value)


def test_what_is_sent_arrives_as_it_is(server: WebhookServer) -> None:
    nearby().post(server.url(path="/hook?team=web"), BODY, HEADERS)
    (arrived,) = server.arrived
    assert (arrived.path, arrived.body) == ("/hook?team=web", BODY)
    assert arrived.headers.items() >= HEADERS.items()
    assert arrived.headers["Host"] == f"127.0.0.1:{server.port}"


def test_without_the_stages_permission_nothing_reaches_this_machine(server: WebhookServer) -> None:
    webhooks = HttpWebhooks(nearby_allowed=False)
    assert "https" in refused(webhooks, server.url())
    assert "port" in refused(webhooks, server.url(scheme="https"))
    assert "loopback" in refused(webhooks, "https://127.0.0.1/")
    assert "loopback" in refused(webhooks, "https://localhost/")
    assert server.arrived == []


@pytest.mark.parametrize("bad", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::ffff:10.0.0.1"])
def test_one_bad_address_among_good_ones_is_enough(bad: str) -> None:
    for found in ([bad, "8.8.8.8"], ["8.8.8.8", bad]):
        webhooks = HttpWebhooks(nearby_allowed=False, resolve=Resolver(found))
        assert "nothing was sent" in refused(webhooks, f"https://{HOST}/")


def test_metadata_is_out_of_reach_even_with_the_stages_permission() -> None:
    webhooks = nearby(resolve=Resolver(["169.254.169.254"]))
    assert "link-local" in refused(webhooks, f"http://{HOST}/latest/meta-data")


def test_the_address_that_was_looked_at_is_the_one_that_is_called(server: WebhookServer) -> None:
    """A host may answer the next who asks with another address."""
    resolver = Resolver(["127.0.0.1"], ["169.254.169.254"])
    nearby(resolve=resolver).post(server.url(HOST), BODY, HEADERS)
    assert resolver.asked == [(HOST, server.port)]
    assert server.arrived[0].headers["Host"] == f"{HOST}:{server.port}"


def test_an_address_that_nobody_listens_at_is_passed_over(server: WebhookServer) -> None:
    resolver = Resolver(["127.0.0.2", "127.0.0.1"])
    nearby(resolve=resolver).post(server.url(HOST), BODY, HEADERS)
    assert len(server.arrived) == 1


def test_a_host_without_an_address_is_reported() -> None:
    assert "no address" in refused(nearby(resolve=Resolver([])), f"http://{HOST}/")
    assert "no address" in refused(nearby(resolve=nobody_knows), f"http://{HOST}/")
    assert "no address" in refused(nearby(), f"http://{'a' * 64}.example/")


def test_a_port_without_a_listener_is_reported() -> None:
    assert "cannot be reached" in refused(nearby(), f"http://127.0.0.1:{a_closed_port()}/")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(code: int) -> None:
    with a_webhook() as elsewhere, a_webhook(status(code, Location=elsewhere.url())) as server:
        assert refused(nearby(), server.url()) == f"it answered {code}"
        assert (len(server.arrived), elsewhere.arrived) == (1, [])


def test_a_failure_is_reported_and_the_next_try_may_succeed() -> None:
    with a_webhook(status(500), status(200)) as server:
        assert refused(nearby(), server.url()) == "it answered 500"
        nearby().post(server.url(), BODY, HEADERS)
        assert len(server.arrived) == 2


def test_a_huge_answer_is_not_read() -> None:
    written: list[int] = []

    def without_end(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not far.leave.is_set():
            written.append(handler.wfile.write(b"x" * 1_000_000))

    with a_webhook(without_end) as far:
        nearby().post(far.url(), BODY, HEADERS)
    assert sum(written) < 100_000_000


def test_an_answer_that_drips_is_broken_off() -> None:
    """Every single read is quick enough."""

    def dripping(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
        while not far.leave.wait(0.02):
            handler.wfile.write(b".")

    with a_webhook(dripping) as far:
        assert "no answer within 0.3 s" in refused(nearby(seconds=0.3), far.url())


def test_an_answer_that_does_not_come_is_given_up() -> None:
    def silent(_: BaseHTTPRequestHandler) -> None:
        far.leave.wait()

    with a_webhook(silent) as far:
        assert "no answer within 0.2 s" in refused(nearby(seconds=0.2), far.url())


def test_an_answer_that_is_not_http_is_reported() -> None:
    def garbled(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"garbage\r\n\r\n")

    with a_webhook(garbled) as far:
        assert "cannot be reached" in refused(nearby(), far.url())


def test_proxies_of_the_environment_are_not_asked(
    server: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{a_closed_port()}")
        monkeypatch.setenv(name.upper(), f"http://127.0.0.1:{a_closed_port()}")
    nearby().post(server.url(), BODY, HEADERS)
    assert server.arrived[0].path == "/hook"


def test_a_certificate_is_checked_for_the_host_although_its_address_is_called(
    tmp_path: Path,
) -> None:
    tls, trusted = a_certificate(tmp_path, [HOST])
    webhooks = nearby(resolve=Resolver(["127.0.0.1"]), trusted=trusted)
    with a_webhook(tls=tls) as server:
        webhooks.post(server.url(HOST, scheme="https"), BODY, HEADERS)
        assert "cannot be reached" in refused(webhooks, server.url("other.example", scheme="https"))
        assert "cannot be reached" in refused(webhooks, server.url(scheme="https"))
        assert len(server.arrived) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    tls, _ = a_certificate(tmp_path, [HOST])
    webhooks = nearby(resolve=Resolver(["127.0.0.1"]))
    with a_webhook(tls=tls) as server:
        assert "SSLCertVerificationError" in refused(webhooks, server.url(HOST, scheme="https"))
        assert server.arrived == []


def test_names_of_this_machine_are_looked_up() -> None:
    assert set(look_up("localhost", 80)) <= {"127.0.0.1", "::1"}
