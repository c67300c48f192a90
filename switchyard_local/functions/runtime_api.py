"""The side of Lambda that a function's runtime talks to: one event out, one answer in."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final

from switchyard_local.emulator.loopback import LOOPBACK

VERSION: Final = "/2018-06-01/runtime"
REQUEST_ID: Final = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class Answer:
    payload: Any
    failed: bool
    """Whether it failed; then the payload has `errorType`, `errorMessage` and `stackTrace`."""


@dataclass(frozen=True)
class Invocation:
    event: bytes
    function_arn: str
    deadline_ms: int


class RuntimeApi(HTTPServer):
    """Serves every caller while `handle_request` runs, on a port of its own."""

    def __init__(self, invocation: Invocation, *, poll_seconds: float) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.timeout = poll_seconds
        self.invocation = invocation
        self.answer: Answer | None = None

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: RuntimeApi

    def do_GET(self) -> None:
        if self.path != f"{VERSION}/invocation/next":
            self._reply(HTTPStatus.NOT_FOUND)
            return
        invocation = self.server.invocation
        headers = {
            "Lambda-Runtime-Aws-Request-Id": REQUEST_ID,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
            "Content-Type": "application/json",
        }
        self._reply(HTTPStatus.OK, invocation.event, headers)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        failed = not self.path.endswith("/response")
        self.server.answer = Answer(json.loads(body or b"null"), failed=failed)
        self._reply(HTTPStatus.ACCEPTED)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """The function has a log of its own."""

    def _reply(
        self, status: HTTPStatus, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
