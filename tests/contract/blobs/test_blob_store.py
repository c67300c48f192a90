"""The contract of `BlobStore`."""

import pytest

from switchyard.domain.errors import MissingBlob
from switchyard.ports import PIECE_BYTES
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


def test_keys_are_listed_by_their_beginning_however_many(backend: Backend) -> None:
    keys = [f"quarantine/2027-01-{day:02}/m.json" for day in range(1, 12)]
    for key in [*reversed(keys), "quarantined/x", "quarantine", "task/quarantine/x"]:
        backend.blobs.put(key, b"{}", content_type="text/plain")
    assert list(backend.blobs.keys("quarantine/")) == keys
    assert list(backend.blobs.keys("nothing/")) == []


def test_blobs_are_listed_with_the_time_of_their_last_change(backend: Backend) -> None:
    keys = [f"quarantine/2027-01-{day:02}/m.json" for day in range(1, 6)]
    began = backend.clock.now_ms()
    for key in [*reversed(keys), "task/x"]:
        backend.blobs.put(key, b"{}", content_type="text/plain")
    ended = backend.clock.now_ms()
    listed = list(backend.blobs.listed("quarantine/"))
    assert [blob.key for blob in listed] == keys
    changed = [blob.modified_at_ms for blob in listed]
    assert changed == sorted(changed, reverse=True)
    for moment in changed:
        assert began - 1000 < moment < ended + 1000  # a bucket may tell whole seconds
    assert list(backend.blobs.listed("nothing/")) == []


def test_a_blob_that_is_replaced_counts_as_changed_then(backend: Backend) -> None:
    def changed() -> dict[str, int]:
        return {blob.key: blob.modified_at_ms for blob in backend.blobs.listed("a/")}

    for key in ("a/1", "a/2"):
        backend.blobs.put(key, b"x", content_type="text/plain")
    before = changed()
    backend.blobs.put("a/1", b"y", content_type="text/plain")
    after = changed()
    assert after["a/2"] == before["a/2"]
    assert after["a/1"] >= after["a/2"]


def test_what_was_deleted_is_gone_and_may_be_deleted_again(backend: Backend) -> None:
    for key in ("a/1", "a/2"):
        backend.blobs.put(key, b"x", content_type="text/plain")
    for _ in range(2):
        backend.blobs.delete("a/1")
    assert list(backend.blobs.keys("a/")) == ["a/2"]
    with pytest.raises(MissingBlob):
        backend.blobs.get("a/1")


def test_a_look_at_a_blob_tells_its_size_and_its_time(backend: Backend) -> None:
    began = backend.clock.now_ms()
    backend.blobs.put("task/uploads/acme/x", b"12345", content_type="text/plain")
    found = backend.blobs.find("task/uploads/acme/x")
    assert found is not None
    assert (found.key, found.size) == ("task/uploads/acme/x", 5)
    assert began - 1000 < found.modified_at_ms < backend.clock.now_ms() + 1000
    assert backend.blobs.find("task/uploads/acme/y") is None


@pytest.mark.parametrize("size", [0, 5, PIECE_BYTES, 2 * PIECE_BYTES + 7])
def test_a_large_blob_is_read_in_pieces(backend: Backend, size: int) -> None:
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    backend.blobs.put("task/a", body, content_type="text/plain")
    pieces = list(backend.blobs.pieces("task/a"))
    assert b"".join(pieces) == body
    assert all(len(piece) <= PIECE_BYTES for piece in pieces)


def test_nothing_is_read_of_a_blob_that_is_not_there(backend: Backend) -> None:
    with pytest.raises(MissingBlob, match="task/nothing"):
        list(backend.blobs.pieces("task/nothing"))
