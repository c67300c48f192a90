"""What a child prints: kept in a file and repeated in the log, within bounds."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from switchyard.domain.text import without_control_characters
from switchyard.observability import get_logger
from worker.redaction import Redaction

logger = get_logger("worker")

MAX_LINE_BYTES: Final = 8 * 1024
MAX_KEPT_BYTES: Final = 1024 * 1024
CHUNK_BYTES: Final = 64 * 1024


class ChildOutput:
    """One stream of a child. `write_end` is for the child, and closed here once it has it."""

    def __init__(self, path: Path, *, request_id: str, redaction: Redaction) -> None:
        self._read_end, self.write_end = os.pipe()
        self._file = path.open("w", encoding="utf-8")
        self._room = MAX_KEPT_BYTES
        self._request_id = request_id
        self._redaction = redaction

    async def follow(self) -> None:
        """Until everybody who could write has closed the stream; what is too much is dropped."""
        os.close(self.write_end)
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._read_end, "rb")
        )
        try:
            async for line in _lines(reader):
                self._keep(line)
        finally:
            transport.close()
            self._file.close()

    def abandon(self) -> None:
        """When there is no child after all."""
        os.close(self.write_end)
        os.close(self._read_end)
        self._file.close()

    def _keep(self, raw: bytes) -> None:
        if self._room <= 0:
            return
        self._room -= len(raw) + 1
        line = self._redaction.text(raw.decode("utf-8", "replace"))
        if self._room <= 0:
            line = f"(more than {MAX_KEPT_BYTES} bytes: the rest is not kept)"
        self._file.write(f"{line}\n")
        self._file.flush()
        logger.info("[WORKFLOW:%s] %s", self._request_id, without_control_characters(line))


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    unfinished = b""
    while chunk := await reader.read(CHUNK_BYTES):
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        unfinished = unfinished[:MAX_LINE_BYTES]
        for line in lines:
            yield line[:MAX_LINE_BYTES]
    if unfinished:
        yield unfinished
