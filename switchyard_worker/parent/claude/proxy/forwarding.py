"""Answers one request of a child: checked, reserved, forwarded with the credential, counted."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2

from switchyard.domain.access.credentials import API_KEY
from switchyard_worker.parent.claude.proxy.accounts import Account, Accounts
from switchyard_worker.parent.claude.proxy.asked import MAX_BODY_BYTES, Asked, read_request
from switchyard_worker.parent.claude.proxy.budget import Granted, reserve
from switchyard_worker.parent.claude.proxy.connections import Cut, Exchange, Headers
from switchyard_worker.parent.claude.proxy.control import Start
from switchyard_worker.parent.claude.proxy.refusals import (
    RequestRefused,
    forbidden,
    unknown_token,
    unreachable,
)
from switchyard_worker.parent.claude.proxy.reported import Reported, StreamMeter, usage_of_body

MESSAGES: Final = "/v1/messages"
COUNT: Final = "/v1/messages/count_tokens"
TARGETS: Final = {
    target: path for path in (MESSAGES, COUNT) for target in (path, f"{path}?beta=true")
}
FORWARDED: Final = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "user-agent",
        "x-app",
        "x-claude-code-session-id",
    }
)
STAINLESS: Final = "x-stainless-"
ANSWERED: Final = frozenset({"content-type", "request-id", "retry-after", "retry-after-ms"})
RATE_LIMITS: Final = "anthropic-ratelimit-"
UPSTREAM: Final = "upstream"
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
CONNECT_SECONDS: Final = 15.0
WRITE_SECONDS: Final = 60.0
COUNT_MARGIN: Final = 1.05
"""The API calls its count an estimate."""
COUNT_EXTRA: Final = 200

_NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class UncountedByUpstream(Exception):
    """The API did not count the tokens; its answer is passed on to the child."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


def upstream_client() -> httpx2.AsyncClient:
    """Return a client that follows no redirect and heeds `HTTPS_PROXY` and `NO_PROXY`."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        follow_redirects=False,
    )


class Forwarder:
    def __init__(self, start: Start, accounts: Accounts, client: httpx2.AsyncClient) -> None:
        self._start = start
        self._upstream = start.upstream.rstrip("/")
        self._accounts = accounts
        self._client = client

    async def answer(self, exchange: Exchange) -> None:
        """Raise `Cut`."""
        now = asyncio.get_running_loop().time()
        try:
            account = self._accounts.of_token(_token(exchange), now=now)
        except RequestRefused as refused:
            self._accounts.note_stranger(refused.reason)
            return await exchange.refuse(refused)
        try:
            with account.serving():
                async with asyncio.timeout_at(account.deadline):
                    await self._serve(exchange, account)
        except RequestRefused as refused:
            account.refuse(refused)
            await exchange.refuse(refused)
        except Cut as cut:
            account.note(cut.reason)
            raise
        except UncountedByUpstream as answer:
            await exchange.reply(answer.status, answer.headers, answer.body)

    async def _serve(self, exchange: Exchange, account: Account) -> None:
        path = TARGETS.get(exchange.target) if exchange.method == "POST" else None
        if path is None:
            raise forbidden(f"only POST {MESSAGES} and POST {COUNT} are open to a task")
        length = exchange.body_length(most=MAX_BODY_BYTES)
        async with account.parallel:
            with account.holding(length):
                asked = read_request(
                    await exchange.body(),
                    models=account.allowed.models,
                    may_search=account.allowed.web_search,
                    capped=account.capped,
                    counts_only=path == COUNT,
                )
                if path == COUNT:
                    await _unless_gone(exchange, self._count(exchange, asked))
                else:
                    await _unless_gone(exchange, self._message(exchange, account, asked))

    async def _count(self, exchange: Exchange, asked: Asked) -> None:
        async with self._asked(exchange, COUNT, asked.countable) as response:
            body = await _whole(response)
        await exchange.reply(response.status_code, _answered(response), body)

    async def _message(self, exchange: Exchange, account: Account, asked: Asked) -> None:
        async def count() -> int:
            async with self._asked(exchange, COUNT, asked.countable) as response:
                return _counted(response, await _whole(response))

        granted = await reserve(account, asked, count)
        meter = _Meter()
        try:
            await self._forward(exchange, asked, granted, meter)
        finally:
            account.settle(granted.reservation, meter.reported, complete=meter.complete)

    async def _forward(
        self, exchange: Exchange, asked: Asked, granted: Granted, meter: "_Meter"
    ) -> None:
        body = asked.body(max_tokens=granted.max_tokens, searches=granted.searches)
        async with self._asked(exchange, MESSAGES, body, meter) as response:
            if response.status_code == 200 and _is_stream(response):
                await _stream(exchange, response, meter)
                return
            whole = await _whole(response)
            meter.count(response.status_code, whole)
            await exchange.reply(response.status_code, _answered(response), whole)

    @asynccontextmanager
    async def _asked(
        self, exchange: Exchange, path: str, body: bytes, meter: "_Meter | None" = None
    ) -> AsyncIterator[httpx2.Response]:
        """Raise `Cut` where the network fails, and `RequestRefused` at a redirect."""
        query = "?beta=true" if exchange.target.endswith("?beta=true") else ""
        try:
            async with self._client.stream(
                "POST", f"{self._upstream}{path}{query}", content=body, headers=self._sent(exchange)
            ) as response:
                if 300 <= response.status_code < 400:
                    raise unreachable("the API answered with a redirect, which is not followed")
                yield response
        except _NOT_SENT as error:
            if meter:
                meter.complete = True
            raise Cut(UPSTREAM) from error
        except httpx2.HTTPError as error:
            raise Cut(UPSTREAM) from error

    def _sent(self, exchange: Exchange) -> dict[str, str]:
        sent: dict[str, str] = {}
        for name, value in exchange.headers:
            if name in FORWARDED or name.startswith(STAINLESS):
                sent[name] = f"{sent[name]}, {value}" if name in sent else value
        key = self._start.credential_value
        # Each client knows where its version of the API looks for a key; OAuth is always a bearer.
        in_own_header = self._start.credential_name == API_KEY and exchange.values("x-api-key")
        credential = {"x-api-key": key} if in_own_header else {"authorization": f"Bearer {key}"}
        fixed = {"content-type": "application/json", "accept-encoding": "identity"}
        return {**sent, **fixed, **credential}


class _Meter:
    """Counts what one answer cost, and whether that is all."""

    def __init__(self) -> None:
        self.stream = StreamMeter()
        self.complete = False
        self.reported = Reported()

    def count(self, status: int, body: bytes) -> None:
        """Count the usage in a body; an error is not charged."""
        usage = usage_of_body(body) if status == 200 else Reported()
        self.complete = usage is not None
        self.reported = usage or Reported()

    def feed(self, data: bytes) -> None:
        self.stream.feed(data)
        self.reported, self.complete = self.stream.reported, self.stream.complete


async def _unless_gone(exchange: Exchange, work: Coroutine[Any, Any, None]) -> None:
    """Raise `Cut` when the client leaves first: what is not read is not paid for."""
    if exchange.is_over:  # it left while it waited for its turn
        work.close()
        raise Cut
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(exchange.gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Cut
        working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _stream(exchange: Exchange, response: httpx2.Response, meter: _Meter) -> None:
    await exchange.begin(response.status_code, _answered(response))
    async for data in response.aiter_raw():
        meter.feed(data)
        await exchange.send(data)
    await exchange.end()


async def _whole(response: httpx2.Response) -> bytes:
    """Raise `Cut` if it is larger than any answer."""
    parts, size = [], 0
    async for data in response.aiter_raw():
        parts.append(data)
        size += len(data)
        if size > MAX_ANSWER_BYTES:
            raise Cut(UPSTREAM)
    return b"".join(parts)


def _counted(response: httpx2.Response, body: bytes) -> int:
    """Raise `UncountedByUpstream`."""
    try:
        tokens = json.loads(body)["input_tokens"] if response.status_code == 200 else None
    except (ValueError, TypeError, KeyError):
        tokens = None
    if not isinstance(tokens, int):
        raise UncountedByUpstream(response.status_code, _answered(response), body)
    return int(tokens * COUNT_MARGIN) + COUNT_EXTRA


def _answered(response: httpx2.Response) -> Headers:
    return [
        (name, value)
        for name, value in response.headers.items()
        if name in ANSWERED or name.startswith(RATE_LIMITS)
    ]


def _is_stream(response: httpx2.Response) -> bool:
    content_type: str = response.headers.get("content-type", "")
    return content_type.startswith("text/event-stream")


def _token(exchange: Exchange) -> str:
    """Raise `RequestRefused` unless there is exactly one."""
    found = set(exchange.values("x-api-key"))
    for value in exchange.values("authorization"):
        scheme, _, token = value.partition(" ")
        found.add(token.strip() if scheme.lower() == "bearer" else "")
    if len(found) != 1:
        raise unknown_token()
    return found.pop()
