"""The bucket."""

from typing import Protocol


class BlobStore(Protocol):
    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def get(self, key: str) -> bytes:
        """Raise `MissingBlob`."""
