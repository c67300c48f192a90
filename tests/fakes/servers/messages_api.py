"""A Messages API on loopback that drives the real Claude SDKs in tests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

from tests.fakes.servers.loopback import served_by
from tests.fakes.servers.messages_api_replies import Reply, events, message, says

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass
class MessagesApi:
    """What it answers, in order (the last one over and over), and what it was asked."""

    replies: tuple[Reply, ...]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    """Every request as it came: path, headers and body."""
    counted: list[dict[str, Any]] = field(default_factory=list)
    """What it was asked to count, and says about it."""
    input_tokens: int = 1_000
    count_status: int = 200
    stopped: threading.Event = field(default_factory=threading.Event)

    def reply_to(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        number = min(len(self.requests), len(self.replies)) - 1
        return self.replies[number].to(request)


@dataclass
class StandingApi:
    """An address at which one API after another answers, each for a test."""

    url: str = ""
    now: MessagesApi = field(default_factory=lambda: MessagesApi((says(),)))

    @contextmanager
    def answering(self, *replies: Reply) -> Iterator[MessagesApi]:
        self.now = api = MessagesApi(replies or (says(),), url=self.url)
        try:
            yield api
        finally:
            api.stopped.set()


@contextmanager
def standing_api() -> Iterator[StandingApi]:
    standing = StandingApi()
    with served_by(type("Handler", (_Handler,), {"standing": standing})) as standing.url:
        yield standing


@contextmanager
def messages_api(*replies: Reply) -> Iterator[MessagesApi]:
    with standing_api() as standing, standing.answering(*replies) as api:
        yield api


class _Handler(BaseHTTPRequestHandler):
    standing: ClassVar[StandingApi]

    def do_POST(self) -> None:
        self.api = self.standing.now
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.api.heard.append(f"{self.path}\n{self.headers}\n{body}")
        request = json.loads(body)
        if self.path.partition("?")[0].endswith("/count_tokens"):
            self.api.counted.append(request)
            counted = Reply(status=self.api.count_status)
            self._send(counted, {"input_tokens": self.api.input_tokens})
            return
        reply = self.api.reply_to(request)
        with suppress(BrokenPipeError, ConnectionResetError):  # a client that gave up
            self._answer(reply, request)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silence."""

    def _answer(self, reply: Reply, request: dict[str, Any]) -> None:
        if reply.hangs:
            self.api.stopped.wait()
        elif reply.status != 200:
            kind = ERROR_TYPES.get(reply.status, "api_error")
            self._send(reply, {"type": "error", "error": {"type": kind, "message": "no"}})
        elif request.get("stream"):
            self._stream(reply, request)
        else:
            self._send(reply, message(reply, request))

    def _send(self, reply: Reply, content: dict[str, Any]) -> None:
        written = json.dumps(content).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def _stream(self, reply: Reply, request: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if reply.announces_its_length:
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        for number, event in enumerate(events(reply, request)):
            if number == reply.events_before_cut:
                return
            if number == reply.stalls_after:
                self.api.stopped.wait()
                return
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
