"""The contract of `Links`. The simulation has none: making a link sends no request."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import requests

from switchyard.adapters import aws
from switchyard.adapters.s3 import S3Links
from switchyard.ports import BlobStore, Links, UploadRequest
from switchyard.testing import ManualClock, MemoryHarness
from tests.contract.backends import a_bucket
from tests.contract.clouds import Cloud

KEY = "task/logs/job-1__a b/2/artifacts/ü+?#&.json"


@dataclass
class Linked:
    blobs: BlobStore
    links: Links
    followed: Callable[[str], bytes]
    """By a reader without credentials."""
    headers: Callable[[str], Mapping[str, str]]
    sent: Callable[[UploadRequest, Mapping[str, str], bytes], bool]
    """Whether the bucket takes a content from a sender without credentials."""


@pytest.fixture(params=["memory", "moto", "ministack"])
def linked(request: pytest.FixtureRequest) -> Linked:
    if request.param == "memory":
        harness = MemoryHarness(ManualClock())
        twin = harness.links
        return Linked(harness.blobs, twin, twin.followed, twin.headers, twin.sent)
    cloud: Cloud = request.getfixturevalue(request.param)
    blobs = a_bucket(cloud)
    links = S3Links(_signing(cloud), blobs.bucket)
    return Linked(
        blobs,
        links,
        lambda link: requests.get(link, timeout=10).content,
        lambda link: requests.get(link, timeout=10).headers,
        lambda upload, headers, body: (
            requests.put(upload.url, data=body, headers=dict(headers), timeout=10).ok
        ),
    )


def _signing(cloud: Cloud) -> Any:
    """MiniStack looks at links as nothing else: it must know the key that signed them."""
    client = cloud.client("s3")
    where = {"endpoint_url": client.meta.endpoint_url, "region_name": cloud.region}
    known = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return aws.client("s3", **where, **known) if "127.0.0.1" in where["endpoint_url"] else client


def link_to(linked: Linked, key: str) -> str:
    return linked.links.to(key, content_type="text/plain")


def test_a_link_reads_its_blob_without_credentials(linked: Linked) -> None:
    linked.blobs.put(KEY, b"\x00content", content_type="text/plain")
    linked.blobs.put("task/other", b"other", content_type="text/plain")
    assert linked.followed(link_to(linked, KEY)) == b"\x00content"
    assert linked.followed(link_to(linked, "task/other")) == b"other"


def test_a_link_is_made_without_a_look_at_the_bucket(linked: Linked) -> None:
    assert link_to(linked, "task/nothing")


@pytest.mark.parametrize("name", ["page.html", 'a"; x=y.svg', "ü\u202e.js"])
def test_what_a_browser_would_run_is_served_as_an_attachment_of_a_safe_type(
    linked: Linked, name: str
) -> None:
    key = f"task/logs/{name}"
    linked.blobs.put(key, b"<script>alert(1)</script>", content_type="text/html")
    headers = linked.headers(link_to(linked, key))
    assert headers["Content-Type"].startswith("text/plain")
    assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{quote(name)}"


def test_a_link_is_signed_for_the_host_of_the_buckets_region(moto: Cloud) -> None:
    links = S3Links(moto.client("s3"), "files")
    link = links.to("task/a", content_type="text/plain")
    assert link.startswith(f"https://files.s3.{moto.region}.amazonaws.com/task/a?")
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in link
    assert f"X-Amz-Expires={15 * 60}" in link


CONTENT = b"the brief"
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


def an_upload(linked: Linked) -> UploadRequest:
    key = f"task/uploads/acme/{CHECKSUM}"
    return linked.links.for_upload(key, size=len(CONTENT), sha256=CHECKSUM)


def test_an_upload_stores_its_content_without_credentials(linked: Linked) -> None:
    upload = an_upload(linked)
    assert linked.sent(upload, upload.headers, CONTENT)
    assert linked.blobs.get(f"task/uploads/acme/{CHECKSUM}") == CONTENT


@pytest.mark.parametrize("linked", ["memory", "ministack"], indirect=True)
def test_an_upload_refuses_another_content_of_the_same_length(linked: Linked) -> None:
    """Not on moto, which compares no checksums."""
    upload = an_upload(linked)
    assert not linked.sent(upload, upload.headers, b"THE BRIEF")
    assert linked.blobs.find(f"task/uploads/acme/{CHECKSUM}") is None


def test_an_upload_is_signed_for_length_and_checksum(moto: Cloud) -> None:
    """What the emulators do not look at: a request with other headers has no valid signature."""
    upload = S3Links(moto.client("s3"), "files").for_upload("task/a", size=9, sha256=CHECKSUM)
    signed = parse_qs(urlsplit(upload.url).query)
    assert signed["X-Amz-SignedHeaders"] == [
        "content-length;content-type;host;x-amz-checksum-sha256"
    ]
    assert signed["X-Amz-Expires"] == [str(15 * 60)]
    assert upload.headers["Content-Length"] == "9"
    assert (
        upload.headers["x-amz-checksum-sha256"]
        == base64.b64encode(bytes.fromhex(CHECKSUM)).decode()
    )
