"""A real proxy process, and a client that says to it whatever a test wants it to hear."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from switchyard.adapters.system import SystemIds
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.claude.link import Allowance, ClaudeAccess
from switchyard_worker.parent.supervision.child_environment import Credential
from tests.fakes.servers.messages_api import MessagesApi, StandingApi, standing_api
from tests.fakes.servers.messages_api_replies import Reply

R = TypeVar("R")

API_KEY = "sk-ant-real-9f8e7d6c5b4a"
HAIKU = "claude-haiku-4-5"
QUESTION: dict[str, Any] = {
    "model": HAIKU,
    "max_tokens": 1_000,
    "messages": [{"role": "user", "content": "Choose."}],
}


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[str, str]:
        return self.json["error"]["type"], self.json["error"]["message"]


class Proxied:
    """Calls from the test's thread, carried out on a loop of their own."""

    def __init__(self, proxy: ClaudeProxy, loop: asyncio.AbstractEventLoop) -> None:
        self.proxy = proxy
        self._loop = loop

    def do(self, work: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    def open(self, **facts: Any) -> ClaudeAccess:
        known: dict[str, Any] = {"request_id": "r", "models": [HAIKU], "seconds": 60.0}
        return self.do(self.proxy.access(Allowance(**known | facts)))

    def revoke(self, access: ClaudeAccess) -> None:
        self.do(access.revoke())


@contextmanager
def proxied(
    upstream: str, *, name: str = "ANTHROPIC_API_KEY", **environment: str
) -> Iterator[Proxied]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    host = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": upstream, **environment}
    proxy = ClaudeProxy(Credential(name, API_KEY), host, new_secret=SystemIds().new_secret)
    it = Proxied(proxy, loop)
    try:
        yield it
    finally:
        it.do(proxy.close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@dataclass(frozen=True)
class SharedProxy:
    """A proxy process for many tests, in front of an API that each of them has for itself."""

    standing: StandingApi
    proxy: Proxied

    @contextmanager
    def access(self, **facts: Any) -> Iterator[ClaudeAccess]:
        """Open it for a test, and leave nothing of it under way for the next."""
        access = self.proxy.open(**facts)
        try:
            yield access
        finally:
            self.proxy.revoke(access)

    @contextmanager
    def a_task(
        self, *replies: Reply, **facts: Any
    ) -> Iterator[tuple[MessagesApi, Proxied, ClaudeAccess]]:
        with self.standing.answering(*replies) as api, self.access(**facts) as access:
            yield api, self.proxy, access


@contextmanager
def shared_proxy() -> Iterator[SharedProxy]:
    with standing_api() as standing, proxied(standing.url) as proxy:
        yield SharedProxy(standing, proxy)


def connect(access: ClaudeAccess) -> socket.socket:
    address = urlsplit(access.given.endpoint)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def say(access: ClaudeAccess, raw: bytes) -> bytes:
    """Everything that comes back until the connection ends."""
    with connect(access) as line:
        line.sendall(raw)
        return until_it_ends(line)


def ask(
    access: ClaudeAccess,
    question: Any = QUESTION,
    *,
    target: str = "/v1/messages",
    method: str = "POST",
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answered:
    body = question if isinstance(question, bytes) else json.dumps(question).encode()
    given = {
        "Host": "127.0.0.1",
        "x-api-key": access.given.token if token is None else token,
        "content-length": str(len(body)),
        "connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
    return parsed(say(access, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body))


def parsed(raw: bytes) -> Answered:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answered(int(first.split(" ")[1]), headers, body)


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        whole, body = whole + rest[:length], rest[length + 2 :]
    return whole


def until_it_ends(line: socket.socket) -> bytes:
    parts = []
    try:
        while data := line.recv(65536):
            parts.append(data)
    except ConnectionResetError:
        pass
    return b"".join(parts)
