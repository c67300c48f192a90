"""The bucket."""

from collections.abc import Iterator
from typing import Protocol


class BlobStore(Protocol):
    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def get(self, key: str) -> bytes:
        """Raise `MissingBlob`."""

    def keys(self, prefix: str) -> Iterator[str]:
        """All that begin with it, in order, however many there are."""

    def delete(self, key: str) -> None:
        """Whether it is there or not."""
