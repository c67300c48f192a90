"""The contract of `Links`. The simulation has none: making a link sends no request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
import requests

from switchyard.adapters import aws
from switchyard.adapters.s3 import S3Links
from switchyard.ports import BlobStore, Links
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


@pytest.fixture(params=["memory", "moto", "ministack"])
def linked(request: pytest.FixtureRequest) -> Linked:
    if request.param == "memory":
        harness = MemoryHarness(ManualClock())
        return Linked(harness.blobs, harness.links, harness.links.followed, harness.links.headers)
    cloud: Cloud = request.getfixturevalue(request.param)
    blobs = a_bucket(cloud)
    links = S3Links(_signing(cloud), blobs.bucket)
    return Linked(
        blobs,
        links,
        lambda link: requests.get(link, timeout=10).content,
        lambda link: requests.get(link, timeout=10).headers,
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
