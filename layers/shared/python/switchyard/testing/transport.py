"""The queue, the bus, the log and the bucket, in memory."""

import hashlib
import itertools
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from switchyard.contracts.events import Event
from switchyard.contracts.messages import Attributes, TaskMessage
from switchyard.domain.errors import DamagedBlob, MissingBlob, Unavailable, UnknownQueue
from switchyard.domain.ids import JobRef
from switchyard.domain.prompts.artifacts import UNKNOWN_TYPE
from switchyard.domain.tasks.task import TaskRun
from switchyard.ports import (
    PIECE_BYTES,
    Clock,
    QueueDepth,
    Received,
    StoredBlob,
    UploadRequest,
)
from switchyard.testing.clock import ManualClock

LINK_SECONDS: Final = 15 * 60


@dataclass
class _Waiting:
    message_id: str
    body: str
    visible_at: float
    sent_at: float
    sent_at_ms: int
    attributes: Attributes = field(default_factory=dict)
    receipt: str = ""

    def received(self) -> Received:
        return Received(
            body=self.body,
            message_id=self.message_id,
            sent_at_ms=self.sent_at_ms,
            attributes=self.attributes,
            receipt=self.receipt,
        )


class MemoryTaskQueue:
    """A queue that delivers at least once: a message that is not deleted comes again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: dict[str, _Waiting] = {}
        self._numbers = itertools.count(1)

    def send(self, messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        for message in messages:
            self.send_body(
                message.model_dump_json(by_alias=True),
                attributes=message.attributes,
                delay_seconds=delay_seconds,
            )

    def send_body(
        self, body: str, *, attributes: Attributes | None = None, delay_seconds: int = 0
    ) -> None:
        message_id = f"message-{next(self._numbers)}"
        now = self._clock.monotonic()
        self._messages[message_id] = _Waiting(
            message_id, body, now + delay_seconds, now, self._clock.now_ms(), attributes or {}
        )

    def receive(
        self,
        *,
        at_most: int,
        wait_seconds: int,  # noqa: ARG002
        visibility_seconds: int,
    ) -> Sequence[Received]:
        now = self._clock.monotonic()
        visible = [waiting for waiting in self._messages.values() if waiting.visible_at <= now]
        for waiting in visible[:at_most]:
            waiting.visible_at = now + visibility_seconds
            waiting.receipt = f"receipt-{next(self._numbers)}"
        return [waiting.received() for waiting in visible[:at_most]]

    def extend(self, message: Received, *, seconds: int) -> None:
        self._held(message).visible_at = self._clock.monotonic() + seconds

    def delete(self, *messages: Received) -> None:
        for message in messages:
            del self._messages[self._held(message).message_id]

    def next_visible_ms(self) -> int | None:
        """Return when the next message can be received; `None` if there is none."""
        moments = [waiting.visible_at for waiting in self._messages.values()]
        return math.ceil(min(moments) * 1000) if moments else None

    @property
    def waiting(self) -> int:
        return len(self._messages)

    def depth(self) -> QueueDepth:
        now = self._clock.monotonic()
        later = [waiting for waiting in self._messages.values() if waiting.visible_at > now]
        hidden = sum(bool(waiting.receipt) for waiting in later)
        waiting = len(self._messages) - len(later)
        return QueueDepth(waiting=waiting, hidden=hidden, delayed=len(later) - hidden)

    def _held(self, message: Received) -> _Waiting:
        waiting = self._messages.get(message.message_id)
        if waiting is None or waiting.receipt != message.receipt:
            raise Unavailable("the receipt handle is not valid any more")
        return waiting


class MemoryBus:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def put(self, events: Sequence[Event]) -> None:
        self.events.extend(events)


class MemoryEventLog:
    def __init__(self) -> None:
        self.records: dict[tuple[str, str], dict[str, Any]] = {}

    def append(self, record: Mapping[str, Any]) -> bool:
        stored = self.records.setdefault((record["PK"], record["SK"]), new := dict(record))
        return stored is new


class MemoryBlobStore:
    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or ManualClock()
        self.blobs: dict[str, bytes] = {}
        self.content_types: dict[str, str] = {}
        self.modified_at_ms: dict[str, int] = {}
        self.checksums: dict[str, str] = {}

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        self.blobs[key] = body
        self.content_types[key] = content_type
        self.modified_at_ms[key] = self._clock.now_ms()
        self.checksums[key] = hashlib.sha256(body).hexdigest()

    def get(self, key: str) -> bytes:
        try:
            return self.blobs[key]
        except KeyError:
            raise MissingBlob(key) from None

    def find(self, key: str) -> StoredBlob | None:
        if key not in self.blobs:
            return None
        return StoredBlob(key, self.modified_at_ms[key], len(self.blobs[key]))

    def pieces(self, key: str) -> Iterator[bytes]:
        content = self.get(key)
        for start in range(0, len(content), PIECE_BYTES):
            yield content[start : start + PIECE_BYTES]
        digest = hashlib.sha256(content).hexdigest()
        if self.checksums.get(key, digest) != digest:
            raise DamagedBlob(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return iter(sorted(key for key in self.blobs if key.startswith(prefix)))

    def listed(self, prefix: str) -> Iterator[StoredBlob]:
        return (
            StoredBlob(key, self.modified_at_ms[key], len(self.blobs[key]))
            for key in self.keys(prefix)
        )

    def delete(self, key: str) -> None:
        self.blobs.pop(key, None)


class MemoryLinks:
    def __init__(self, blobs: MemoryBlobStore) -> None:
        self._blobs = blobs

    def to(self, key: str, *, content_type: str) -> str:
        return f"memory://link/{quote(key)}?{urlencode({'type': content_type})}"

    def for_upload(self, key: str, *, size: int, sha256: str) -> UploadRequest:
        headers = {"Content-Length": str(size), "Content-Type": UNKNOWN_TYPE, "sha256": sha256}
        return UploadRequest(f"memory://upload/{quote(key)}", headers, LINK_SECONDS)

    def sent(self, request: UploadRequest, headers: Mapping[str, str], body: bytes) -> bool:
        """Return whether the bucket takes what a sender with these headers sends."""
        checksum = hashlib.sha256(body).hexdigest()
        said = (str(len(body)), checksum) == (headers["Content-Length"], headers["sha256"])
        if dict(headers) != dict(request.headers) or not said:
            return False
        key = unquote(urlsplit(request.url).path.removeprefix("/"))
        self._blobs.put(key, body, content_type=headers["Content-Type"])
        return True

    def followed(self, link: str) -> bytes:
        """Return what a reader of the link gets."""
        return self._blobs.get(unquote(urlsplit(link).path.removeprefix("/")))

    def headers(self, link: str) -> dict[str, str]:
        """Return the headers that a reader of the link gets."""
        split = urlsplit(link)
        name = split.path.rpartition("/")[2]
        return {
            "Content-Type": parse_qs(split.query)["type"][0],
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        }


class MemoryQueueDepths:
    def __init__(self, queues: Mapping[str, MemoryTaskQueue]) -> None:
        self._queues = queues

    def of(self, queue: str) -> QueueDepth:
        return self._queues[queue].depth()


class MemoryQueueSender:
    def __init__(self, queues: Mapping[str, MemoryTaskQueue]) -> None:
        self._queues = queues

    def send(self, queue: str, body: str, attributes: Attributes) -> None:
        if queue not in self._queues:
            raise UnknownQueue(queue)
        self._queues[queue].send_body(body, attributes=attributes)


class MemoryDispatchQueue:
    def __init__(self) -> None:
        self.refs: deque[TaskRun | JobRef] = deque()

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        self.refs.extend(refs)


class MemoryWebProbe:
    """URLs and their answers."""

    def __init__(self) -> None:
        self.statuses: dict[str, int] = {}
        """What each URL answers with; others cannot be reached."""
        self.asked: list[tuple[str, str]] = []

    def status(self, url: str, *, method: str, seconds: float) -> int:
        self.asked.append((method, url))
        if url not in self.statuses or seconds <= 0:
            raise Unavailable("it cannot be reached")
        return self.statuses[url]
