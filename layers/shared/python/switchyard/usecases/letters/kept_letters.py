"""Looks through what is kept because nobody could handle it; sends it again, or throws it away."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

from switchyard.contracts.jobs import instant
from switchyard.contracts.kept import PLACES, Kept, Unreadable, kept_at
from switchyard.domain.errors import MissingBlob, UnknownLetter
from switchyard.ports import BlobStore, Mail, StoredBlob


@dataclass(frozen=True, kw_only=True)
class KeptLetters:
    blobs: BlobStore
    mail: Mail

    def newest(self, at_most: int) -> list[Kept | Unreadable]:
        """Those that were kept last, the last one first."""
        newest = nlargest(at_most, self._all(), key=lambda blob: blob.modified_at_ms)
        # The bucket tells whole seconds; the letters know better.
        return sorted(map(self._read, newest), key=lambda kept: kept.kept_at, reverse=True)

    def find(self, name: str) -> Kept:
        """By its id or the beginning of it. Raise `UnknownLetter` unless there is exactly one."""
        key = self._stored(name).key
        return kept_at(key, self.blobs.get(key))

    def find_to_discard(self, name: str) -> Kept | Unreadable:
        """Likewise, be it readable or not."""
        return self._read(self._stored(name))

    def returned(self, sent: Kept, *, since_ms: int) -> Kept | None:
        """What has been kept since and says the same: it could not be handled this time either."""
        second_ms = since_ms - since_ms % 1000  # the bucket tells whole seconds
        for stored in self._all():
            if stored.modified_at_ms < second_ms or _id_in(stored.key) == sent.id:
                continue
            again = self._read(stored)
            if isinstance(again, Kept) and (again.send_to, again.body) == (sent.send_to, sent.body):
                return again
        return None

    def redrive(self, kept: Kept) -> None:
        """To the queue that it was meant for. Sent first: whoever dies in between loses nothing.

        Raise `UnknownQueue`.
        """
        self.mail.send(kept.send_to, kept.body, kept.own_attributes)
        self.blobs.delete(kept.key)

    def discard(self, kept: Kept | Unreadable) -> None:
        self.blobs.delete(kept.key)

    def _all(self) -> Iterator[StoredBlob]:
        for place in PLACES:
            yield from self.blobs.listed(place)

    def _stored(self, name: str) -> StoredBlob:
        found = [blob for blob in self._all() if _id_in(blob.key).startswith(name)] if name else []
        if len(found) != 1:
            told = "nothing that is kept begins" if not found else f"{len(found)} ids begin"
            raise UnknownLetter(f"{told} with {name!r}")
        return found[0]

    def _read(self, stored: StoredBlob) -> Kept | Unreadable:
        try:
            return kept_at(stored.key, self.blobs.get(stored.key))
        except (MissingBlob, UnknownLetter) as problem:
            return Unreadable(
                id=_id_in(stored.key),
                key=stored.key,
                kept_at=instant(stored.modified_at_ms),
                unreadable=str(problem),
            )


def _id_in(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
