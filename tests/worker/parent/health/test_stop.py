"""The real worker process on a queue that never answers: a stop does not wait for it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from switchyard_local.environments import aws_environment
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

PATIENCE_SECONDS = 15  # less than the long poll, and than the time-out of its connection
NOTHING = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 18\r\n\r\n{"Attributes": {}}'


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_SECONDS)
        yield server


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGINT]
)
def test_an_idle_worker_leaves_in_the_middle_of_a_long_poll(
    deaf: socket.socket, number: signal.Signals
) -> None:
    port = deaf.getsockname()[1]
    environment = ENVIRONMENT | aws_environment(port) | {"NO_PROXY": "*"}
    worker = subprocess.Popen(
        [sys.executable, "-m", "switchyard_worker"],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with long_poll(deaf):
            os.kill(worker.pid, number)
            answer_its_last_word(deaf)
            said, _ = worker.communicate(timeout=PATIENCE_SECONDS)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode == 0
    assert "worker stopped" in said


def long_poll(server: socket.socket) -> socket.socket:
    """Never answered; what comes before is: its presence, and whether it may take tasks."""
    while True:
        connection, _ = server.accept()
        if b"ReceiveMessage" in connection.recv(65_536):
            return connection
        with connection:
            connection.sendall(NOTHING)


def answer_its_last_word(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        assert b"DynamoDB" in connection.recv(65_536)
        connection.sendall(NOTHING)
