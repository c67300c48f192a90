"""Lists and finds the parked messages of a stage, sends them again, or discards them."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

from switchyard.contracts.parked_messages import (
    PARKED_PREFIXES,
    ParkedMessage,
    UnreadableObject,
    read_parked,
)
from switchyard.contracts.wire import instant
from switchyard.domain.errors import MissingBlob, UnknownParkedMessage
from switchyard.ports import BlobStore, QueueSender, StoredBlob


@dataclass(frozen=True, kw_only=True)
class ParkedMessages:
    blobs: BlobStore
    queue_sender: QueueSender

    def newest(self, at_most: int) -> list[ParkedMessage | UnreadableObject]:
        """Return the messages that were parked last, the last one first."""
        newest = nlargest(at_most, self._all(), key=lambda blob: blob.modified_at_ms)
        # The bucket's times are whole seconds; those in the messages are milliseconds.
        return sorted(map(self._read, newest), key=lambda found: found.parked_at, reverse=True)

    def find(self, name: str) -> ParkedMessage:
        """Find a message by its id or the beginning of it.

        Raise `UnknownParkedMessage` unless there is exactly one.
        """
        key = self._stored(name).key
        return read_parked(key, self.blobs.get(key))

    def find_to_discard(self, name: str) -> ParkedMessage | UnreadableObject:
        """Find a message as `find` does, whether it is readable or not."""
        return self._read(self._stored(name))

    def parked_again(self, sent: ParkedMessage, *, since_ms: int) -> ParkedMessage | None:
        """Find a message with the same body and queue that was parked since a redrive."""
        second_ms = since_ms - since_ms % 1000  # the bucket's times are whole seconds
        for stored in self._all():
            if stored.modified_at_ms < second_ms or _id_in(stored.key) == sent.id:
                continue
            again = self._read(stored)
            if isinstance(again, UnreadableObject):
                continue
            if (again.send_to, again.body) == (sent.send_to, sent.body):
                return again
        return None

    def redrive(self, parked: ParkedMessage) -> None:
        """Send a message to the queue that it was meant for, then delete its object.

        A crash in between loses nothing. Raise `UnknownQueue`.
        """
        self.queue_sender.send(parked.send_to, parked.body, parked.own_attributes)
        self.blobs.delete(parked.key)

    def discard(self, parked: ParkedMessage | UnreadableObject) -> None:
        self.blobs.delete(parked.key)

    def _all(self) -> Iterator[StoredBlob]:
        for prefix in PARKED_PREFIXES:
            yield from self.blobs.listed(prefix)

    def _stored(self, name: str) -> StoredBlob:
        found = [blob for blob in self._all() if _id_in(blob.key).startswith(name)] if name else []
        if len(found) != 1:
            count = "no id of a parked message begins" if not found else f"{len(found)} ids begin"
            raise UnknownParkedMessage(f"{count} with {name!r}")
        return found[0]

    def _read(self, stored: StoredBlob) -> ParkedMessage | UnreadableObject:
        try:
            return read_parked(stored.key, self.blobs.get(stored.key))
        except (MissingBlob, UnknownParkedMessage) as problem:
            return UnreadableObject(
                id=_id_in(stored.key),
                key=stored.key,
                parked_at=instant(stored.modified_at_ms),
                unreadable=str(problem),
            )


def _id_in(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
