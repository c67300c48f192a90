"""What every keeper of blobs promises."""

import pytest

from switchyard.domain.errors import MissingBlob
from tests.contract.conftest import Backend


def test_a_blob_comes_back_byte_for_byte(backend: Backend) -> None:
    backend.blobs.put("task/logs/x/1/artifacts/a.json", b"\x00\xff{}", content_type="text/plain")
    assert backend.blobs.get("task/logs/x/1/artifacts/a.json") == b"\x00\xff{}"


def test_a_blob_that_is_not_there_will_not_come_by_waiting(backend: Backend) -> None:
    with pytest.raises(MissingBlob, match="task/nothing"):
        backend.blobs.get("task/nothing")
