"""The bucket."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredBlob:
    key: str
    modified_at_ms: int
    """By the store's own clock, which may tell whole seconds."""
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
    def to(self, key: str, *, seconds: int) -> str:
        """An address where whoever knows it reads the blob for so long, without permission.

        Nobody is asked for it, so it is made even if nothing is there.
        """
