import os
import socket
from collections.abc import Iterator

import pytest

from switchyard.adapters.system import SystemClock
from switchyard_local.emulator.loopback import is_free, require_free
from switchyard_local.emulator.port_choice import DEFAULT_PORT, chosen_port
from switchyard_local.errors import CloudError


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_taken_port_is_reported_with_its_holder_and_a_way_out(taken_port: int) -> None:
    with pytest.raises(CloudError) as error:
        require_free(taken_port, clock=SystemClock())
    assert f"Port {taken_port} is taken by" in str(error.value)
    assert f"(process {os.getpid()})" in str(error.value)
    assert f"SWITCHYARD_PORT={taken_port + 1}" in str(error.value)


def test_a_port_is_free_again_once_its_listener_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_the_port_asked_for_wins_over_the_one_used_last() -> None:
    assert chosen_port({"SWITCHYARD_PORT": "5001"}, 5000) == 5001
    assert chosen_port({}, 5000) == 5000
    assert chosen_port({}, None) == DEFAULT_PORT


@pytest.mark.parametrize("asked", ["many", "80", "70000", "-1", "4580.5"])
def test_a_port_that_is_none_is_refused_with_a_sentence(asked: str) -> None:
    with pytest.raises(CloudError, match="from 1024 to 65535"):
        chosen_port({"SWITCHYARD_PORT": asked}, None)
