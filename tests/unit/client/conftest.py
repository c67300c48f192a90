from collections.abc import Iterator

import httpx
import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.client import Client
from tests.unit.cli.fakes import KEY, NOW_MS, URL, FakeApi


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
def client(api: FakeApi, clock: ManualClock) -> Iterator[Client]:
    with Client(URL, KEY, clock=clock, transport=httpx.MockTransport(api)) as client:
        yield client
