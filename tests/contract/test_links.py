"""What every maker of links promises. The simulation has none: to make one asks nobody."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from switchyard.adapters import aws
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.s3 import S3Links
from switchyard.ports import BlobStore, Links
from tests.contract.backends import a_bucket
from tests.contract.clouds import Cloud

KEY = "task/logs/job-1__a b/2/artifacts/ü+?#&.json"


@dataclass
class Linked:
    blobs: BlobStore
    links: Links
    followed: Callable[[str], bytes]
    """By somebody without credentials."""


@pytest.fixture(params=["memory", "moto", "ministack"])
def linked(request: pytest.FixtureRequest) -> Linked:
    if request.param == "memory":
        yard = MemoryYard(ManualClock())
        return Linked(yard.blobs, yard.links, yard.links.followed)
    cloud: Cloud = request.getfixturevalue(request.param)
    blobs = a_bucket(cloud)
    links = S3Links(_signing(cloud), blobs.bucket)
    return Linked(blobs, links, lambda link: requests.get(link, timeout=10).content)


def _signing(cloud: Cloud) -> Any:
    """MiniStack looks at links as nothing else: it must know the key that signed them."""
    client = cloud.client("s3")
    where = {"endpoint_url": client.meta.endpoint_url, "region_name": cloud.region}
    known = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return aws.client("s3", **where, **known) if "127.0.0.1" in where["endpoint_url"] else client


def test_a_link_reads_its_blob_without_credentials(linked: Linked) -> None:
    linked.blobs.put(KEY, b"\x00content", content_type="text/plain")
    linked.blobs.put("task/other", b"other", content_type="text/plain")
    assert linked.followed(linked.links.to(KEY, seconds=900)) == b"\x00content"
    assert linked.followed(linked.links.to("task/other", seconds=900)) == b"other"


def test_a_link_says_how_long_it_lasts(linked: Linked) -> None:
    assert "900" in linked.links.to("task/a", seconds=900)
    assert linked.links.to("task/a", seconds=60) != linked.links.to("task/a", seconds=900)


def test_a_link_is_made_without_a_look_at_the_bucket(linked: Linked) -> None:
    assert linked.links.to("task/nothing", seconds=900)


def test_a_link_is_signed_for_the_host_of_the_buckets_region(moto: Cloud) -> None:
    link = S3Links(moto.client("s3"), "files").to("task/a", seconds=900)
    assert link.startswith(f"https://files.s3.{moto.region}.amazonaws.com/task/a?")
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in link
