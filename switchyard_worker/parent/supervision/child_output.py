"""Stores and logs a child's output within bounds, and reads from it what the child does."""

import asyncio
import io
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from typing import IO, Final, Literal

from switchyard.domain.error_text import SecretLines, without_secrets
from switchyard.domain.tasks.task import LifeSigns, short
from switchyard.domain.text import without_control_characters
from switchyard.observability import get_logger
from switchyard.ports import Clock
from switchyard_worker.boundary import MARKER, marked_in
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.coroutines import others_first

logger = get_logger("worker")

ActivityType = Literal["step_running", "sdk_query", "waiting", "progress"]


@dataclass(frozen=True, slots=True)
class Activity:
    type: ActivityType
    step_name: str
    at_ms: int


class LastActivity:
    """The last activity that an attempt's child reported, for heartbeats."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._current: Activity | None = None
        self._call = ""
        self._since_ms = 0
        self._repeats = 0

    @property
    def current(self) -> Activity | None:
        """Return the activity, or `None` until the child reported one."""
        return self._current

    def note(self, type: ActivityType, step_name: str, call: str = "") -> None:  # noqa: A002 - the event's word
        """Note an activity; `call` is the digest of a tool call with its input."""
        last, now_ms = self._current, self._clock.now_ms()
        same = last and (last.type, last.step_name, self._call) == (type, step_name, call)
        if not same:
            self._since_ms, self._repeats = now_ms, 0
        self._repeats += bool(call)
        self._current, self._call = Activity(type, step_name, now_ms), call

    def signs(self, *, beat_at_ms: int) -> LifeSigns:
        doing = self._current
        if doing is None:
            return LifeSigns(beat_at_ms=beat_at_ms)
        return LifeSigns(
            beat_at_ms=beat_at_ms,
            activity=short(f"{doing.type}:{doing.step_name}"),
            activity_at_ms=self._since_ms,
            repeats=self._repeats,
        )


MAX_LINE_BYTES: Final = 8 * 1024
MAX_STORED_BYTES: Final = 1024 * 1024
MAX_PRINTED_BYTES: Final = 50_000_000
CHUNK_BYTES: Final = 64 * 1024
LINES_AT_ONCE: Final = 25  # what is read at once may be thousands, and a lease has to be renewed
LEAST_BYTES_OF_A_LINE: Final = 100  # the log writes at least that much around one


class Printed:
    """Counts what a child has printed, on all its streams."""

    def __init__(self, most: int = MAX_PRINTED_BYTES) -> None:
        self.too_much = asyncio.Event()
        self._room = most

    def add(self, count: int) -> None:
        self._room -= count
        if self._room < 0:
            self.too_much.set()


class Excerpt(io.TextIOBase):
    """The beginning and the end of what a program printed, in memory."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._beginning = ""
        self._end = ""
        self._dropped = False

    def write(self, text: str) -> int:
        room = self._half - len(self._beginning)
        self._beginning += text[:room] if room > 0 else ""
        end = self._end + (text[room:] if room > 0 else text)
        self._dropped = self._dropped or len(end) > self._half
        self._end = end[-self._half :]
        return len(text)

    def close(self) -> None:
        """Stay open: both streams of a program are written here, and one ends first."""

    @property
    def text(self) -> str:
        return f"{self._beginning}{' […] ' if self._dropped else ''}{self._end}"


class ChildOutput:
    """A stream of a child. `write_end` is for the child, and closed here once it has it."""

    def __init__(
        self,
        file: "IO[str] | Excerpt",
        *,
        request_id: str,
        redaction: Redaction,
        printed: Printed,
        activity: LastActivity,
    ) -> None:
        self._file = file
        self._read_end, self.write_end = os.pipe()
        self._room = MAX_STORED_BYTES
        self._request_id = request_id
        self._redaction = redaction
        self._secrets = SecretLines()
        # A key that the cut would halve is seen whole: half of it would not be recognized.
        self._considered = MAX_LINE_BYTES + redaction.longest
        self._printed = printed
        self._activity = activity

    async def follow(self) -> None:
        """Read until all writers have closed the stream; drop what is too much."""
        os.close(self.write_end)
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._read_end, "rb")
        )
        try:
            lines = count(1)
            async for line in self._lines(reader):
                self._handle_line(line)
                if next(lines) % LINES_AT_ONCE == 0:
                    await others_first()
        finally:
            transport.close()
            self._close()

    def abandon(self) -> None:
        """Close everything when there is no child after all."""
        os.close(self.write_end)
        os.close(self._read_end)
        self._close()

    def _close(self) -> None:
        """Close the file, which writes its buffer: a full disk refuses that once more."""
        try:
            self._file.close()
        except OSError as error:
            logger.warning("output is not stored", extra={"error": str(error)})

    async def _lines(self, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        unfinished = b""
        while chunk := await reader.read(CHUNK_BYTES):
            self._printed.add(len(chunk))
            *lines, unfinished = self._relevant(unfinished + chunk).split(b"\n")
            unfinished = unfinished[: self._considered]
            for line in lines:
                yield line[: self._considered]
        if unfinished:
            yield unfinished

    def _relevant(self, printed: bytes) -> bytes:
        """Return only the last markers once no more is stored: more would hold up the loop."""
        if self._room > 0:
            return printed
        whole, _, unfinished = printed.rpartition(b"\n")
        if MARKER.encode() not in whole:
            return unfinished
        markers = [line for line in whole.split(b"\n") if line.startswith(MARKER.encode())]
        return b"\n".join((*markers[-LINES_AT_ONCE:], unfinished))

    def _handle_line(self, raw: bytes) -> None:
        # Cleaned first: what is removed later could join the parts of a secret.
        line = without_control_characters(raw.decode("utf-8", "replace"))
        line = self._secrets.line(self._redaction.text(line))[:MAX_LINE_BYTES]
        marked = marked_in(line.encode(), self._without_secrets)
        if marked:
            self._activity.note(*marked)
        if self._room <= 0:
            return
        self._room -= max(len(raw) + 1, LEAST_BYTES_OF_A_LINE)
        if self._room <= 0:
            line = f"(more than {MAX_STORED_BYTES} bytes: the rest is not stored)"
        logger.info("[WORKFLOW:%s] %s", self._request_id, line)
        if not marked:
            self._store(line)

    def _without_secrets(self, text: str) -> str:
        return without_secrets(self._redaction.text(text))

    def _store(self, line: str) -> None:
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
        except OSError as error:  # the disk is full: what was printed is in the log
            self._room = 0
            logger.warning("output is not stored", extra={"error": str(error)})
