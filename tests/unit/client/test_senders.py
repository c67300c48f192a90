"""Both senders ask the same, understand the same answers and fail in the same words."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar, Final, Protocol

import pytest

from switchyard.client.errors import PAUSE_SECONDS, NotConnected, Unreachable
from switchyard.client.httpx_sender import HttpxSender
from switchyard.client.loopback_sender import LoopbackSender
from switchyard.client.senders import Sender, sender_for

KEY: Final = "the-key"


class Maker(Protocol):
    def __call__(self, url: str, key: str) -> Sender: ...


class Recorder(BaseHTTPRequestHandler):
    """Records requests, and answers what the path asks for."""

    requests: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.requests.append(
            {
                "asked": f"{self.command} {self.path}",
                "key": self.headers["x-api-key"],
                "type": self.headers.get("Content-Type"),
                "extra": self.headers.get("Extra"),
                "body": self.rfile.read(length).decode(),
            }
        )
        if self.path == "/broken":
            self.wfile.write(b"no HTTP at all\r\n\r\n")
            return
        body = json.dumps({"é": 1}, ensure_ascii=False).encode()
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    Recorder.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def url(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


every_sender: Final = pytest.mark.parametrize("maker", [LoopbackSender, HttpxSender])


@every_sender
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("GET", "/jobs", {}), "GET /$default/jobs"),
        (
            ("GET", "/jobs", {"params": {"limit": 3, "tag": "a b:é&c", "errors": True}}),
            "GET /$default/jobs?limit=3&tag=a%20b%3A%C3%A9%26c&errors=true",
        ),
        (("GET", "/jobs/a b/é%41", {"params": {}}), "GET /$default/jobs/a%20b/%C3%A9%41"),
        (("POST", "/jobs", {"json": {"name": "é"}}), "POST /$default/jobs"),
    ],
)
def test_the_api_is_asked_the_same(
    maker: Maker, url: str, asked: tuple[str, str, dict[str, Any]], expected: str
) -> None:
    method, path, request = asked
    sender = maker(f"{url}/$default", KEY)

    sender.send(method, path, headers={"Extra": "more"}, **request)
    sender.close()

    (seen,) = Recorder.requests
    assert seen["asked"].replace("+", "%20") == expected
    assert (seen["key"], seen["extra"]) == (KEY, "more")
    if "json" in request:
        assert seen["type"] == "application/json"
        assert json.loads(seen["body"]) == request["json"]


@every_sender
def test_an_answer_has_status_reason_headers_and_content(maker: Maker, url: str) -> None:
    answer = maker(url, KEY).send("GET", "/missing")

    assert (answer.status, answer.reason, answer.is_success) == (404, "Not Found", False)
    assert answer.is_client_error
    assert answer.headers["retry-after"] == "7"
    assert json.loads(answer.content) == {"é": 1}


@every_sender
def test_an_answer_that_is_no_http_is_no_answer(maker: Maker, url: str) -> None:
    with pytest.raises(Unreachable, match=rf"{url} (answered|cannot).+\.") as raised:
        maker(url, KEY).send("GET", "/broken")

    assert not isinstance(raised.value, NotConnected)


@every_sender
def test_where_nothing_listens_the_command_that_starts_it_is_named(
    maker: Maker, server: ThreadingHTTPServer, url: str
) -> None:
    server.shutdown()
    server.server_close()

    with pytest.raises(NotConnected, match="start the local cloud with `switchyard up`"):
        maker(url, KEY).send("GET", "/jobs")


def test_a_server_without_tls_is_not_reported_as_absent(url: str) -> None:
    with pytest.raises(NotConnected, match=r"cannot be reached: .*SSL"):
        HttpxSender(url.replace("http://", "https://"), KEY).send("GET", "/jobs")


def test_a_server_that_stops_later_is_worth_waiting_for(
    server: ThreadingHTTPServer, url: str
) -> None:
    sender = LoopbackSender(url, KEY)
    sender.send("GET", "/jobs")
    server.shutdown()
    server.server_close()

    with pytest.raises(NotConnected, match="cannot be reached") as raised:
        sender.send("GET", "/jobs")

    assert raised.value.pause_seconds == PAUSE_SECONDS


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:4580", LoopbackSender),
        ("http://localhost/api", LoopbackSender),
        ("http://[::1]:80", LoopbackSender),
        ("https://localhost", HttpxSender),
        ("http://api.example.com", HttpxSender),
        ("https://api.example.com", HttpxSender),
    ],
)
def test_only_an_api_on_this_machine_is_asked_with_the_standard_library(
    url: str, kind: type[object]
) -> None:
    assert type(sender_for(url, KEY)) is kind


@pytest.mark.parametrize("url", ["", "http://", "http://[", "http://127.0.0.1:port"])
def test_an_address_that_is_none_cannot_be_reached(url: str) -> None:
    with pytest.raises(Unreachable):
        sender_for(url, KEY).send("GET", "/jobs")
