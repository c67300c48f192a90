"""Serves HTTP on loopback to programs that may be hostile, within limits on time and size.

`h11` reads the wire: it is strict, and leaves every limit on time to us.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import h11

from switchyard_worker.parent.claude.proxy.refusals import RequestRefused, invalid, too_large

MAX_CONNECTIONS: Final = 512
MAX_HEADER_BYTES: Final = 32 * 1024
CHUNK_BYTES: Final = 64 * 1024
HEADER_SECONDS: Final = 10.0
BODY_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 75.0
LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 1024 * 1024

Headers = Sequence[tuple[str, str]]


class Cut(Exception):
    """The connection ends without an answer, as if the network had failed.

    `reason` is a constant for logs, where it is not the client's own doing.
    """

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason


class Exchange:
    """A request, and the answer to it."""

    def __init__(self, connection: "Connection", request: h11.Request) -> None:
        self._connection = connection
        self.method = request.method.decode("ascii")
        self.target = request.target.decode("ascii")
        self.headers: Headers = [
            (name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers
        ]

    def values(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found == name]

    def body_length(self, *, most: int) -> int:
        """Return the length of a body, which has one valid form. Raise `RequestRefused`."""
        for name in ("transfer-encoding", "upgrade", "content-encoding", "trailer"):
            if self.values(name):
                raise invalid("framing", f"requests with {name} are not understood here")
        lengths = self.values("content-length")
        if len(lengths) != 1:
            raise RequestRefused(
                411, "invalid_request_error", "framing", "content-length is missing"
            )
        if int(lengths[0]) > most:
            raise too_large(f"a body may have {most:,} bytes")
        return int(lengths[0])

    async def body(self) -> bytes:
        return await self._connection.read_body()

    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        await self.begin(status, [*headers, ("content-length", str(len(body)))])
        await self.send(body)
        await self.end()

    async def refuse(self, refused: RequestRefused) -> None:
        headers = [("content-type", "application/json"), ("x-should-retry", "false")]
        if refused.status == 429:
            headers = [("content-type", "application/json"), ("retry-after", "1")]
        await self.reply(refused.status, headers, refused.body())

    async def begin(self, status: int, headers: Headers) -> None:
        await self._connection.send(h11.Response(status_code=status, headers=list(headers)))

    async def send(self, data: bytes) -> None:
        """Wait for a client that reads slowly."""
        await self._connection.send(h11.Data(data=data))

    async def end(self) -> None:
        await self._connection.send(h11.EndOfMessage())

    @property
    def is_over(self) -> bool:
        """Return whether the client has left already."""
        return self._connection.at_eof

    async def gone(self) -> None:
        """Return once the client has left."""
        await self._connection.left()


Answer = Callable[[Exchange], Awaitable[None]]
Note = Callable[[str], None]
"""Counts what is refused before a token was read, by a constant for logs."""


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEADER_BYTES)
        self.idle = True
        """Whether no request is being answered: then it may be closed to serve another."""

    @property
    def at_eof(self) -> bool:
        return self._reader.at_eof()

    async def serve(self, answer: Answer, note: Note) -> None:
        """Serve until the client leaves, is too slow, or sends what cannot be parsed."""
        try:
            await self._serve(answer)
        except (h11.RemoteProtocolError, h11.LocalProtocolError) as problem:
            note("protocol")
            await self._complain(problem)
        except (Cut, OSError, TimeoutError):
            self._writer.transport.abort()
        except asyncio.CancelledError:
            self._writer.transport.abort()
            raise
        finally:
            await self._close()

    async def _serve(self, answer: Answer) -> None:
        timeout = HEADER_SECONDS
        while request := await self._next_request(timeout):
            self.idle = False
            await answer(Exchange(self, request))
            if self._http.their_state is not h11.DONE or self._http.our_state is not h11.DONE:
                return await self._linger()
            self._http.start_next_cycle()
            self.idle, timeout = True, IDLE_SECONDS
        return None

    async def _next_request(self, seconds: float) -> h11.Request | None:
        """Raise `TimeoutError`."""
        async with asyncio.timeout(seconds):
            await self._first_data()
        async with asyncio.timeout(HEADER_SECONDS):
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(CHUNK_BYTES))
        return event if isinstance(event, h11.Request) else None

    async def _first_data(self) -> None:
        if not self._http.trailing_data[0]:
            self._http.receive_data(await self._reader.read(CHUNK_BYTES))

    async def read_body(self) -> bytes:
        """Raise `TimeoutError`."""
        parts: list[bytes] = []
        if self._http.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[]))
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._http.receive_data(await self._reader.read(CHUNK_BYTES))
                elif isinstance(event, h11.Data):
                    parts.append(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    return b"".join(parts)
                else:
                    raise Cut

    async def send(
        self, event: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage
    ) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def left(self) -> None:
        data = await self._reader.read(CHUNK_BYTES)
        if data:  # the next request, before this one is answered
            self._http.receive_data(data)
            await asyncio.get_running_loop().create_future()

    async def _complain(self, problem: h11.ProtocolError) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        refused = invalid("protocol", "this is not a request that can be understood")
        refused.status = problem.error_status_hint
        headers = [("content-type", "application/json"), ("connection", "close")]
        body = refused.body()
        with contextlib.suppress(h11.LocalProtocolError, OSError):
            response_headers = [*headers, ("content-length", str(len(body)))]
            await self.send(h11.Response(status_code=refused.status, headers=response_headers))
            await self.send(h11.Data(data=body))
            await self.send(h11.EndOfMessage())

    async def _linger(self) -> None:
        """Read what is left for a moment: a reset could overtake the answer."""
        self.idle = True
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                left = LINGER_BYTES
                while left > 0 and (data := await self._reader.read(CHUNK_BYTES)):
                    left -= len(data)

    async def _close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()


class Server:
    """Accepts connections; where there are too many, the one that was idle longest makes room."""

    def __init__(self, answer: Answer, note: Note) -> None:
        self._answer = answer
        self._note = note
        self._serving: dict[Connection, asyncio.Task[None]] = {}

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        connection = Connection(reader, writer)
        if task is None or not self._make_room():
            writer.transport.abort()
            return
        self._serving[connection] = task
        try:
            await connection.serve(self._answer, self._note)
        except asyncio.CancelledError:
            pass  # it was cut: this task is not awaited
        finally:
            del self._serving[connection]

    def cut_all(self) -> None:
        for task in self._serving.values():
            task.cancel()

    def _make_room(self) -> bool:
        if len(self._serving) < MAX_CONNECTIONS:
            return True
        self._note("connections")
        for connection, task in self._serving.items():
            if connection.idle and not task.cancelling():
                task.cancel()
                return True
        return False
