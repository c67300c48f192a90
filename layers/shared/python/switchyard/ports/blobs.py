"""The bucket, and what tasks print."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredBlob:
    key: str
    modified_at_ms: int
    """The time by the store's own clock, perhaps in whole seconds."""
    size: int
    """Bytes."""


class BlobStore(Protocol):
    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def get(self, key: str) -> bytes:
        """Raise `MissingBlob`."""

    def keys(self, prefix: str) -> Iterator[str]:
        """All that begin with it, in order, however many there are."""

    def listed(self, prefix: str) -> Iterator[StoredBlob]:
        """The same ones, each with the time at which it was put last."""

    def delete(self, key: str) -> None:
        """Whether it is there or not."""


class Links(Protocol):
    def to(self, key: str, *, content_type: str) -> str:
        """Return an address at which anybody who knows it downloads the blob, for some minutes.

        It is served as an attachment of that type, whatever type it was stored with: a browser
        saves it and runs nothing of it. It is made even if nothing is stored there.
        """


class TaskOutput(Protocol):
    """One task's, as its worker's log repeats it."""

    def news(self) -> Sequence[str]:
        """What came since the last call, the oldest first, nothing twice. Raise `Unavailable`."""
