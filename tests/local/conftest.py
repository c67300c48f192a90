import pytest

from tests.local.free_port import free_port


@pytest.fixture
def port() -> int:
    return free_port()
