"""The format of a question and its answer: two lengths, a header in JSON, and a body."""

import json
import socket
import struct
from collections.abc import Iterator
from typing import Any, Final

LENGTHS: Final = struct.Struct("!II")
MAX_HEADER_BYTES: Final = 1_000_000  # a schema has at most 64,000, and JSON may spell them longer
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
CHUNK_BYTES: Final = 64 * 1024

Frame = tuple[dict[str, Any], bytes]


class BrokenFrame(Exception):
    """The other side ended, or sent what is no frame."""


def prefix_of(header: dict[str, Any], body: bytes) -> bytes:
    """Return the bytes before the body. Raise `BrokenFrame` if they or it are too long."""
    head = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    check_lengths(len(head), len(body))
    return LENGTHS.pack(len(head), len(body)) + head


def chunks_of(body: bytes) -> Iterator[memoryview]:
    """Yield pieces that are small enough to be copied at once."""
    view = memoryview(body)
    for start in range(0, len(body), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]


def lengths_in(prefix: bytes) -> tuple[int, int]:
    """Parse both lengths. Raise `BrokenFrame` if they are too long to be read."""
    head, body = LENGTHS.unpack(prefix)
    check_lengths(head, body)
    return head, body


def header_in(head: bytes) -> dict[str, Any]:
    try:
        header = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"the header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise BrokenFrame("the header is no object")
    return header


def check_lengths(head: int, body: int) -> None:
    if head > MAX_HEADER_BYTES or body > MAX_BODY_BYTES:
        raise BrokenFrame(f"{head:,} and {body:,} bytes are more than a check takes")


def send(connection: socket.socket, header: dict[str, Any], body: bytes) -> None:
    """Block until all of it is sent. Raise `BrokenFrame` or `OSError`."""
    connection.sendall(prefix_of(header, body))
    connection.sendall(body)


def receive(connection: socket.socket) -> Frame:
    """Block until a whole frame is there. Raise `BrokenFrame` or `OSError`."""
    head, body = lengths_in(_exactly(connection, LENGTHS.size))
    return header_in(_exactly(connection, head)), _exactly(connection, body)


def _exactly(connection: socket.socket, count: int) -> bytes:
    content = bytearray()
    while len(content) < count:
        chunk = connection.recv(min(count - len(content), 1 << 20))
        if not chunk:
            raise BrokenFrame("the other side ended")
        content += chunk
    return bytes(content)
