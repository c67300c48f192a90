"""Connects the worker to one process of the proxy, and to the attempts that depend on it."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.observability import get_logger
from switchyard_worker.parent.claude.proxy.control import (
    Listening,
    Message,
    NotInstalled,
    Register,
    Registered,
    Revoke,
    Spent,
    Start,
    Strangers,
    decode,
    encode,
)
from switchyard_worker.parent.supervision.child_environment import ChildAccess

logger = get_logger("worker")

START_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 5.0


class NoAccess(Exception):
    """The proxy did not start, or did not answer."""

    def __init__(self, category: FailureCategory, message: str) -> None:
        super().__init__(message)
        self.category = category


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The limits within which an attempt may use Claude."""

    request_id: str
    models: Sequence[str]
    seconds: float
    cap_usd: float | None = None
    cap_tokens: int | None = None
    web_search: bool = False


class ClaudeAccess:
    """The access of one attempt to Claude, and what it has used."""

    def __init__(
        self,
        number: int,
        request_id: str,
        given: ChildAccess,
        revoke: Callable[["ClaudeAccess"], Awaitable[None]],
    ) -> None:
        self.number = number
        self.given = given
        self.lost = asyncio.Event()
        """Set when the proxy ended before the attempt did."""
        self.spent = Spent(id=number)
        self.refusals: Counter[str] = Counter()
        """The number of refused requests, by reason."""
        self._request_id = request_id
        self._revoke = revoke
        self._final = asyncio.Event()

    @property
    def usage(self) -> Usage:
        return Usage(
            input_tokens=self.spent.input_tokens,
            output_tokens=self.spent.output_tokens,
            cache_read_tokens=self.spent.cache_read_tokens,
            cost_usd=self.spent.cost_usd,
        )

    def update(self, spent: Spent) -> None:
        self.spent = spent
        self.refusals.update(spent.refusals)
        for reason, count in spent.refusals.items():
            fields = {"request_id": self._request_id, "reason": reason, "count": count}
            logger.warning("requests to Claude failed", extra=fields)
        if spent.final:
            self._final.set()

    def lose(self) -> None:
        if not self._final.is_set():
            self.lost.set()
            self._final.set()

    async def revoke(self) -> None:
        """Make the token invalid, and the figures final."""
        await self._revoke(self)

    async def ended(self) -> None:
        """Wait until its figures are final."""
        await self._final.wait()


class ProxyLink:
    """The connection to one process of the proxy, from its start to its end."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.process = process
        self.ended = False
        self._reader = reader
        self._writer = writer
        self._accesses: dict[int, ClaudeAccess] = {}
        self._registered: dict[int, asyncio.Event] = {}
        self._listening: asyncio.Task[None] | None = None

    async def begin(self, start: Start) -> None:
        """Raise `NoAccess`."""
        self._send(start)
        try:
            async with asyncio.timeout(START_SECONDS):
                first = await self._reader.readline()
        except TimeoutError:
            first = b""
        answer = decode(first) if first else None
        if not isinstance(answer, Listening):
            await self.end()
            raise _not_started(answer)
        logger.info("claude proxy started", extra={"process_id": self.process.pid})
        self._listening = asyncio.create_task(self._listen())

    async def register(self, access: ClaudeAccess, allowance: Allowance) -> None:
        """Raise `NoAccess`."""
        number = access.number
        self._accesses[number] = access
        self._registered[number] = asyncio.Event()
        self._send(
            Register(
                id=number,
                token=access.given.token,
                models=tuple(allowance.models),
                seconds=allowance.seconds,
                cap_usd=allowance.cap_usd,
                cap_tokens=allowance.cap_tokens,
                web_search=allowance.web_search,
            )
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._registered[number].wait()
        answered = self._registered.pop(number).is_set()
        if self.ended or not answered:
            del self._accesses[number]
            await self.end()  # the next attempt gets another one
            message = "the worker's proxy for Claude does not answer"
            raise NoAccess(FailureCategory.NETWORK, message)

    async def revoke(self, access: ClaudeAccess) -> None:
        """Revoke a token; doing so more than once does no harm."""
        if access.number not in self._accesses:
            return
        self._send(Revoke(id=access.number))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await access.ended()
        except TimeoutError:
            await self.end()  # so that the token dies in any case; the next attempt gets another
        finally:
            self._accesses.pop(access.number, None)

    async def end(self) -> None:
        self._writer.close()
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self._listening:
            await self._listening
        self.ended = True

    def _send(self, message: Message) -> None:
        if not self._writer.is_closing():
            self._writer.write(encode(message))

    async def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while line := await self._reader.readline():
                self._handle(decode(line))
        self.ended = True
        code = await self.process.wait()
        if self._accesses:
            fields = {"exit_code": code, "attempts": len(self._accesses)}
            logger.error("claude proxy ended", extra=fields)
        for access in self._accesses.values():
            access.lose()
        for waiting in self._registered.values():
            waiting.set()
        self._writer.close()

    def _handle(self, message: Message) -> None:
        if isinstance(message, Registered) and message.id in self._registered:
            self._registered[message.id].set()
        elif isinstance(message, Spent) and message.id in self._accesses:
            self._accesses[message.id].update(message)
        elif isinstance(message, Strangers):
            for reason, count in message.refusals.items():
                fields = {"request_id": None, "reason": reason, "count": count}
                logger.warning("requests to Claude failed", extra=fields)


def _not_started(answer: Message | None) -> NoAccess:
    if isinstance(answer, NotInstalled):
        message = f"Claude's SDKs are not installed: {answer.package} is missing"
        return NoAccess(FailureCategory.NOT_FOUND, message)
    return NoAccess(FailureCategory.NETWORK, "the worker's proxy for Claude did not start")
