"""The bucket, and what tasks print."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class StoredBlob:
    key: str
    modified_at_ms: int
    """The time by the store's own clock, perhaps in whole seconds."""
    size: int
    """Bytes."""


PIECE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """A request that stores one content at one key, for anybody who has it."""

    url: str
    headers: Mapping[str, str]
    expires_in_seconds: int


class BlobStore(Protocol):
    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def get(self, key: str) -> bytes:
        """Raise `MissingBlob`."""

    def find(self, key: str) -> StoredBlob | None:
        """Look at a blob without reading it; `None` if there is none."""

    def pieces(self, key: str) -> Iterator[bytes]:
        """Read a blob in pieces of at most `PIECE_BYTES`, and compare it with its checksum.

        Raise `MissingBlob` before the first, and `DamagedBlob` after the last.
        """

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield all keys that begin with the prefix, in order, however many there are."""

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

    def for_upload(self, key: str, *, size: int, sha256: str) -> UploadRequest:
        """Return a request by which anybody who has it puts a blob, for some minutes.

        It stores just as many bytes with just this checksum; everything else is refused.
        """


class TaskOutput(Protocol):
    """The output of one task, as its worker's log repeats it."""

    def news(self) -> Sequence[str]:
        """Return the lines since the last call, oldest first, none twice. Raise `Unavailable`."""
