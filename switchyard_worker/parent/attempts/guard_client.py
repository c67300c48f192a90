"""Asks the guard's process from the event loop, and starts it again when it has died."""

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from typing import Any, Final

from switchyard.ports import Clock, Sleep
from switchyard_worker.guard import frames
from switchyard_worker.guard.examine import Finding
from switchyard_worker.guard.process import LIMITS, WALL_TIME_FACTOR
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.guard.starting import (
    MARGIN_SECONDS,
    MAX_MEGABYTES,
    MAX_SECONDS,
    GuardUnavailable,
    Question,
    command,
    connection_pair,
    environment,
    outcome_question,
    unchecked,
    value_question,
)
from switchyard_worker.parent.coroutines import first_of

NOTICING_SECONDS: Final = 0.2


class GuardClient:
    """A guard process per worker, started at the first check; each check is a fork of it."""

    def __init__(
        self,
        *,
        clock: Clock,
        sleep: Sleep,
        host_environment: Mapping[str, str],
        max_seconds: float = MAX_SECONDS,
        max_megabytes: int = MAX_MEGABYTES,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._host_environment = host_environment
        self._max_seconds = max_seconds
        self._limits = LIMITS.pack(max_seconds, max_megabytes)
        self._process: asyncio.subprocess.Process | None = None
        self._control: socket.socket | None = None
        self._starting = asyncio.Lock()

    async def check_value(self, document: bytes, schema: Mapping[str, Any]) -> Finding:
        """Hold a JSON text against a schema. Raise `GuardUnavailable`."""
        return await self._asked(value_question(document, schema))

    async def check_outcome(
        self, document: bytes, schema: Mapping[str, Any] | None, redaction: Redaction
    ) -> Finding:
        """Examine what a child wrote. Raise `GuardUnavailable`."""
        return await self._asked(outcome_question(document, schema, redaction.secrets))

    async def keep(self) -> None:
        """Wait until cancelled; then close."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """End the process, and the checks that still run."""
        if self._control:
            self._control.close()
        if self._process:
            late = self._sleep(MARGIN_SECONDS)
            await first_of({"ended": self._process.wait(), "late": late})
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._process = self._control = None

    async def _asked(self, question: Question) -> Finding:
        for _ in range(2):
            control = await self._running()
            began = self._clock.monotonic()
            finding = await self._answer(control, question)
            if finding is not None:
                return finding
            took = self._clock.monotonic() - began
            if await self._still_lives():
                return unchecked(took=took, max_seconds=self._max_seconds)
        raise GuardUnavailable("the process that checks schemas does not stay alive")

    async def _running(self) -> socket.socket:
        async with self._starting:
            if self._control is None or not self._lives():
                await self.close()
                await self._start()
            assert self._control is not None  # noqa: S101 - for the type checker
            return self._control

    async def _still_lives(self) -> bool:
        """Return whether it lives, after a moment: its end is noticed later than its silence."""
        if self._process is not None:
            moment = self._sleep(NOTICING_SECONDS)
            await first_of({"ended": self._process.wait(), "moment": moment})
        return self._lives()

    def _lives(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _start(self) -> None:
        ours, theirs = connection_pair()
        ours.settimeout(0)
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *command(self._host_environment),
                    stdin=theirs.fileno(),
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                    env=environment(),
                    process_group=0,  # a signal for the worker's group is not meant for it
                )
            except OSError as error:
                ours.close()
                raise GuardUnavailable(f"no process checks schemas: {error}") from error
        self._control = ours

    async def _answer(self, control: socket.socket, question: Question) -> Finding | None:
        """Return `None` if there is no answer in time. The fork ends once the socket is closed."""
        ours, theirs = connection_pair()
        with theirs:
            try:
                socket.send_fds(control, [self._limits], [theirs.fileno()])
            except OSError:
                ours.close()
                return None
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            asking = asyncio.ensure_future(_exchange(reader, writer, question))
            late = self._sleep(self._max_seconds * WALL_TIME_FACTOR + MARGIN_SECONDS)
            ended = await first_of({"answer": asking, "late": late})
            return asking.result() if ended == "answer" else None
        finally:
            writer.close()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, question: Question
) -> Finding | None:
    try:
        writer.write(frames.prefix_of(*question))
        for chunk in frames.chunks_of(question[1]):
            writer.write(chunk)
            await writer.drain()
        head, body = frames.lengths_in(await reader.readexactly(frames.LENGTHS.size))
        header = frames.header_in(await reader.readexactly(head))
        return Finding.received(header, await reader.readexactly(body))
    except (asyncio.IncompleteReadError, frames.BrokenFrame, OSError):
        return None
