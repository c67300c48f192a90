from collections.abc import Iterator

import httpx
import pytest

from switchyard.client import Client
from switchyard.testing import ManualClock
from tests.unit.cli.fakes.api import KEY, NOW_MS, FakeApi

FAR_URL = "https://switchyard.example/api"
"""Not on this machine, so that an outage is waited for."""


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
def client(api: FakeApi, clock: ManualClock) -> Iterator[Client]:
    with Client(FAR_URL, KEY, clock=clock, transport=httpx.MockTransport(api)) as client:
        yield client
