"""Clouds without stacks, for scenarios to lay out their harnesses in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from moto import mock_aws

from switchyard_local.environments import aws_environment
from switchyard_scenarios.harness.place import Place, clients
from tests.contract.clouds import on_ministack

CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
REGION = "us-east-1"


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One that worker processes reach, too."""
    with on_ministack(tmp_path_factory.mktemp("cloud")) as cloud:
        url = cloud.client("sqs").meta.endpoint_url
        client = clients(endpoint_url=url, region_name=REGION, **CREDENTIALS)
        environment = aws_environment(int(url.rpartition(":")[2]))
        yield Place(stage="local", client=client, environment=environment)


@pytest.fixture(scope="session")
def moto_client() -> Callable[[str], Any]:
    """What it reaches is empty each time."""
    return clients(region_name=REGION, **CREDENTIALS)


@pytest.fixture
def moto_place(moto_client: Callable[[str], Any]) -> Iterator[Place]:
    with mock_aws():
        yield Place(stage="test", client=moto_client, environment={})
