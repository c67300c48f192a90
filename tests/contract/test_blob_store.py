"""What every keeper of blobs promises."""

import pytest

from switchyard.domain.errors import MissingBlob
from tests.contract.conftest import Backend


@pytest.mark.parametrize("body", [b"", b"\x00\xff{}\r\n", bytes(range(256)) * 40_000])
def test_a_blob_comes_back_byte_for_byte(backend: Backend, body: bytes) -> None:
    backend.blobs.put("task/logs/x/1/artifacts/a.json", body, content_type="text/plain")
    assert backend.blobs.get("task/logs/x/1/artifacts/a.json") == body


def test_a_blob_is_replaced(backend: Backend) -> None:
    for body in (b"old", b"new"):
        backend.blobs.put("task/a b/ü+?#.json", body, content_type="text/plain")
    assert backend.blobs.get("task/a b/ü+?#.json") == b"new"


def test_a_blob_that_is_not_there_will_not_come_by_waiting(backend: Backend) -> None:
    with pytest.raises(MissingBlob, match="task/nothing"):
        backend.blobs.get("task/nothing")
