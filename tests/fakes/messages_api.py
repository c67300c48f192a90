"""A tiny Messages API on loopback that drives the real Claude SDK in tests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

USAGE = {"input_tokens": 12, "output_tokens": 5, "cache_read_input_tokens": 3}


@dataclass
class MessagesApi:
    """What it answers, and what it was asked."""

    url: str = ""
    error_status: int | None = None
    answer: dict[str, Any] | None = None
    """Given through the schema's tool if there is one; `None` answers in plain text."""
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def messages_api(**script: Any) -> Iterator[MessagesApi]:
    api = MessagesApi(**script)
    handler = type("Handler", (_Handler,), {"api": api})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[MessagesApi]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.api.requests.append(body)
        if self.api.error_status:
            self._refuse(self.api.error_status)
        else:
            self._stream(body)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silence."""

    def _refuse(self, status: int) -> None:
        answer = json.dumps({"type": "error", "error": {"type": "fake", "message": "refused"}})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def _stream(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in _events(body, self.api.answer):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


def _events(body: dict[str, Any], answer: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    tool = next((t["name"] for t in body.get("tools", []) if "Structured" in t["name"]), None)
    uses_tool = tool is not None and answer is not None and not _answered(body)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    empty: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    yield {"type": "message_start", "message": message | empty}
    yield from _tool_use(str(tool), answer) if uses_tool else _text()
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "tool_use" if uses_tool else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": USAGE}
    yield {"type": "message_stop"}


def _answered(body: dict[str, Any]) -> bool:
    return "tool_result" in json.dumps(body["messages"])


def _tool_use(name: str, answer: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(answer)}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}


def _text() -> Iterator[dict[str, Any]]:
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "text_delta", "text": "plain words"}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
