"""Looks through what is kept because nobody could handle it; sends it again, or throws it away."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

from switchyard.contracts.kept import PLACES, Kept, kept_at
from switchyard.domain.errors import UnknownLetter
from switchyard.ports import BlobStore, Mail


@dataclass(frozen=True, kw_only=True)
class KeptLetters:
    blobs: BlobStore
    mail: Mail

    def newest(self, at_most: int) -> list[Kept]:
        """By the day of their sending, which their keys name; the newest first."""
        keys = nlargest(at_most, self._keys(), key=_day_of)
        found = [kept_at(key, self.blobs.get(key)) for key in keys]
        return sorted(found, key=lambda kept: kept.sent_at, reverse=True)

    def find(self, name: str) -> Kept:
        """By its id or the beginning of it. Raise `UnknownLetter` unless there is exactly one."""
        keys = [key for key in self._keys() if _id_in(key).startswith(name)] if name else []
        if len(keys) != 1:
            found = "nothing that is kept begins" if not keys else f"{len(keys)} ids begin"
            raise UnknownLetter(f"{found} with {name!r}")
        return kept_at(keys[0], self.blobs.get(keys[0]))

    def redrive(self, kept: Kept) -> None:
        """To the queue that it was meant for. Sent first: whoever dies in between loses nothing.

        Raise `UnknownQueue`.
        """
        self.mail.send(kept.send_to, kept.body, kept.own_attributes)
        self.blobs.delete(kept.key)

    def discard(self, kept: Kept) -> None:
        self.blobs.delete(kept.key)

    def _keys(self) -> Iterator[str]:
        for place in PLACES:
            yield from self.blobs.keys(place)


def _id_in(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")


def _day_of(key: str) -> str:
    return key.split("/")[-2]
