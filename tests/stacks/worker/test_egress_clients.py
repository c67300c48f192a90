"""The clients in a restricted worker: AWS directly, by allowed names; Claude by the proxy."""

import asyncio
import os
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from aws_cdk import App, Stack
from botocore.utils import get_environ_proxies

from stacks.constructs.restricted_egress import NAMES, worker_environment
from switchyard.adapters import aws
from switchyard.adapters.aws_services import Service
from switchyard_worker.parent.claude.proxy.forwarding import upstream_client
from tests.stacks.worker.test_egress import EGRESS, plain

SERVICES: tuple[Service, ...] = ("sqs", "dynamodb", "s3", "events", "ecs")


@pytest.fixture(params=["us-east-1", "eu-central-1"])
def region(request: pytest.FixtureRequest) -> Iterator[str]:
    stack = Stack(App(), "S")
    resolved = {name: plain(stack.resolve(v)) for name, v in worker_environment(EGRESS).items()}
    environment = {
        name: value.replace("<AWS::Region>", request.param).replace(
            "<AWS::URLSuffix>", "amazonaws.com"
        )
        for name, value in resolved.items()
    }
    environment |= {"AWS_REGION": request.param, "AWS_DEFAULT_REGION": request.param}
    environment |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"}
    with patch.dict(os.environ, environment, clear=True):
        yield request.param


def url_of(service: Service) -> str:
    client: Any = aws.client(service)
    if service != "s3":
        return str(client.meta.endpoint_url)
    return str(client.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"}))


@pytest.mark.parametrize("service", SERVICES)
def test_aws_is_called_without_the_proxy_by_a_name_on_the_list(
    service: Service, region: str
) -> None:
    url = url_of(service)
    assert get_environ_proxies(url) == {}
    allowed = [re.escape(f"{name}.{region}.amazonaws.com").replace(r"\*", ".+") for name in NAMES]
    host = urlsplit(url).hostname or ""
    assert any(re.fullmatch(pattern, host) for pattern in allowed), host


@pytest.mark.parametrize(
    "url", ["http://169.254.170.2/v2/credentials", "http://169.254.169.254/", "http://127.0.0.1:80"]
)
def test_the_platform_and_the_worker_itself_are_called_without_the_proxy(
    url: str, region: str
) -> None:
    assert region
    assert get_environ_proxies(url) == {}


def test_a_name_that_only_looks_like_aws_goes_to_the_proxy(region: str) -> None:
    url = f"https://sqs.{region}.amazonaws.com.example.org/"
    assert get_environ_proxies(url)["https"] == EGRESS.proxy_url


def test_claude_is_called_through_the_proxy() -> None:
    assert asyncio.run(_first_line_at_a_proxy()) == "CONNECT api.anthropic.com:443 HTTP/1.1"


async def _first_line_at_a_proxy() -> str:
    heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set_result((await reader.readline()).decode().strip())
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with patch.dict(os.environ, {"HTTPS_PROXY": f"http://127.0.0.1:{port}"}, clear=True):
            async with upstream_client() as client:
                with pytest.raises(Exception, match="403"):
                    await client.post("https://api.anthropic.com/v1/messages", content=b"{}")
        return await heard
