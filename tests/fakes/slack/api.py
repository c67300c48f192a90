"""Slack's Web API on loopback: what a reader would see, and whatever can go wrong with it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from tests.fakes.servers.loopback import served_by
from tests.fakes.slack.rules import problem_with
from tests.fakes.slack.text import CALLS, shown, texts_in

CHANNELS = {"#ops": "C0000OPS01", "#elsewhere": "C00000ELSE"}
POST, UPDATE, HISTORY = "chat.postMessage", "chat.update", "conversations.history"
REPLIES, LIST = "conversations.replies", "conversations.list"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to one call. `accepted`: it is done all the same."""

    method: str | None = None
    """`None`: whichever comes next."""
    status: int = 200
    error: str | None = None
    retry_after: str | None = None
    accepted: bool = False
    cut: bool = False
    """The line is cut before an answer."""
    hangs: bool = False


@dataclass
class Message:
    channel: str
    ts: str
    thread_ts: str | None
    text: str
    blocks: list[dict[str, Any]]
    metadata: dict[str, Any]
    edits: int = 0

    @property
    def seen(self) -> str:
        return shown(self.blocks)


@dataclass
class SlackApi:
    now_ms: Callable[[], int]
    url: str = ""
    messages: list[Message] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lasting: Fault | None = None
    """What happens to every call, until somebody mends it."""
    calls: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What Slack would not have taken."""
    tokens: set[str] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def mains(self) -> list[Message]:
        return [message for message in self.messages if message.thread_ts is None]

    def thread(self, number: int = 0) -> list[Message]:
        ts = self.mains[number].ts
        return [message for message in self.messages if message.thread_ts == ts]

    @property
    def pinged(self) -> list[str]:
        """Whatever would have called somebody, or have been a link."""
        texts = [
            text for message in self.messages for text in (message.text, *texts_in(message.blocks))
        ]
        return [found for text in texts for found in CALLS.findall(text)]

    def answer(self, method: str, asked: dict[str, Any]) -> tuple[Fault, dict[str, Any]]:
        with self.lock:
            self.calls.append(method)
            fault = self._fault_for(method)
            if fault and not fault.accepted:
                return fault, {"ok": False, "error": fault.error or "fault"}
            return fault or Fault(), _METHODS[method](self, asked)

    def _fault_for(self, method: str) -> Fault | None:
        for number, fault in enumerate(self.faults):
            if fault.method in {None, method}:
                return self.faults.pop(number)
        lasting = self.lasting
        return lasting if lasting and lasting.method in {None, method} else None

    def post(self, asked: dict[str, Any]) -> dict[str, Any]:
        channel = CHANNELS.get(asked["channel"], asked["channel"])
        if channel not in CHANNELS.values():
            return {"ok": False, "error": "channel_not_found"}
        if refused := self._refuses(asked):
            return refused
        seconds, rest = divmod(self.now_ms(), 1000)
        ts = f"{seconds}.{rest * 1000 + len(self.messages) % 1000:06d}"
        self.messages.append(
            Message(
                channel=channel,
                ts=ts,
                thread_ts=asked.get("thread_ts"),
                text=asked["text"],
                blocks=asked["blocks"],
                metadata=asked["metadata"],
            )
        )
        return {"ok": True, "channel": channel, "ts": ts}

    def update(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = [m for m in self.messages if (m.channel, m.ts) == (asked["channel"], asked["ts"])]
        if not found:
            return {"ok": False, "error": "message_not_found"}
        if refused := self._refuses(asked):
            return refused
        found[0].text, found[0].blocks = asked["text"], asked["blocks"]
        found[0].edits += 1
        return {"ok": True, "channel": asked["channel"], "ts": asked["ts"]}

    def history(self, asked: dict[str, Any]) -> dict[str, Any]:
        return self._page(asked, [m for m in self.messages if m.thread_ts is None])

    def replies(self, asked: dict[str, Any]) -> dict[str, Any]:
        wanted = [m for m in self.messages if asked["ts"] in {m.ts, m.thread_ts}]
        return self._page(asked, wanted)

    def channels(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = [{"id": id_, "name": name.removeprefix("#")} for name, id_ in CHANNELS.items()]
        return {"ok": True, "channels": found, "response_metadata": {"next_cursor": ""}}

    def _page(self, asked: dict[str, Any], messages: list[Message]) -> dict[str, Any]:
        """Two at a time, newest first."""
        if asked["channel"] not in CHANNELS.values():
            return {"ok": False, "error": "channel_not_found"}
        there = [
            {"ts": m.ts, "text": m.text, "metadata": m.metadata}
            for m in reversed(messages)
            if m.channel == asked["channel"] and float(m.ts) >= float(asked["oldest"])
        ]
        begin = int(asked.get("cursor") or 0)
        more = str(begin + 2) if len(there) > begin + 2 else ""
        page = there[begin : begin + 2]
        return {"ok": True, "messages": page, "response_metadata": {"next_cursor": more}}

    def _refuses(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        problem = problem_with(asked)
        if problem is None:
            return None
        self.refused.append(problem)
        return {"ok": False, "error": "invalid_blocks"}


_METHODS = {
    POST: SlackApi.post,
    UPDATE: SlackApi.update,
    HISTORY: SlackApi.history,
    REPLIES: SlackApi.replies,
    LIST: SlackApi.channels,
}


@contextmanager
def slack_api(now_ms: Callable[[], int]) -> Iterator[SlackApi]:
    api = SlackApi(now_ms)
    handler = type("Handler", (_Handler,), {"api": api})
    with served_by(handler) as address:
        api.url = f"{address}/api/"
        try:
            yield api
        finally:
            api.stopped.set()


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[SlackApi]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        as_json = "json" in self.headers["Content-Type"]
        asked = json.loads(body) if as_json else dict(parse_qsl(body))
        self.api.tokens.add(self.headers["Authorization"].removeprefix("Bearer "))
        fault, answer = self.api.answer(self.path.rpartition("/")[2], asked)
        with suppress(BrokenPipeError, ConnectionResetError):  # a client that gave up
            self._send(fault, json.dumps(answer).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silence."""

    def _send(self, fault: Fault, content: bytes) -> None:
        if fault.hangs:
            self.api.stopped.wait()
        if fault.hangs or fault.cut:
            self.close_connection = True
            return
        self.send_response(fault.status)
        if fault.retry_after is not None:
            self.send_header("Retry-After", fault.retry_after)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
