"""Contents of the bucket that are not what was put there, as no emulator makes them."""

import base64
import hashlib
import io
from typing import Any

import pytest
from botocore.exceptions import FlexibleChecksumError

from switchyard.adapters.s3 import S3BlobStore
from switchyard.domain.errors import DamagedBlob

CONTENT = b"as it was"
CHECKSUM = base64.b64encode(hashlib.sha256(CONTENT).digest()).decode()


class Damaging:
    """Answers with a content that does not fit its checksum."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def get_object(self, **request: Any) -> dict[str, Any]:
        assert request["ChecksumMode"] == "ENABLED"
        return {"Body": self._body, "ChecksumSHA256": CHECKSUM}


class Comparing(io.BytesIO):
    """A body whose library compares its checksum at the end by itself."""

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        if not content:
            raise FlexibleChecksumError(error_msg="does not match")
        return content


@pytest.mark.parametrize("body", [io.BytesIO(b"otherwise"), Comparing(b"otherwise")])
def test_a_damaged_content_is_found_at_its_end(body: Any) -> None:
    pieces = S3BlobStore(Damaging(body), "files").pieces("task/a")
    assert next(pieces) == b"otherwise"
    with pytest.raises(DamagedBlob, match="task/a"):
        next(pieces)


def test_a_whole_content_is_read() -> None:
    store = S3BlobStore(Damaging(io.BytesIO(CONTENT)), "files")
    assert list(store.pieces("task/a")) == [CONTENT]
