"""How long a call to something that does not answer may take."""

import socket
import time
from collections.abc import Iterator
from typing import Final

import pytest

from switchyard.adapters import aws, ecs, otlp, webhooks
from switchyard.adapters.aws_services import Service
from switchyard.adapters.slack import chat
from switchyard.domain.errors import AnswerLost
from switchyard.settings import WorkerSettings
from switchyard_worker.parent.receive.lease import LEASE_PER_EXTENSION

FUNCTION_SECONDS: Final = 30  # tests/stacks compares it with the templates
TO_REACT_SECONDS: Final = 5
LONG_POLL_SECONDS: Final = 20
SERVICES: Final = (
    "cloudformation",
    "cloudwatch",
    "dynamodb",
    "events",
    "logs",
    "s3",
    "secretsmanager",
    "sqs",
)
IN_A_REGION: Final = {
    "region_name": "eu-west-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}


@pytest.fixture
def black_hole() -> Iterator[socket.socket]:
    """Accept connections, by the kernel alone, and never answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        server.settimeout(0.2)
        yield server


def connections_to(server: socket.socket) -> int:
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except TimeoutError:
            return count
        count += 1


@pytest.mark.parametrize("service", SERVICES)
def test_a_client_has_the_limits_that_it_was_asked_for(service: Service) -> None:
    for limits in (aws.USUAL_LIMITS, aws.POLLING_LIMITS):
        config = aws.client(service, limits, **IN_A_REGION).meta.config
        assert config.connect_timeout == limits.connect_seconds
        assert config.read_timeout == limits.read_seconds
        assert config.retries["total_max_attempts"] == limits.tries
        assert config.retries["mode"] == "standard"


def test_a_call_fails_while_a_function_can_still_react() -> None:
    assert aws.USUAL_LIMITS.worst_case_seconds + TO_REACT_SECONDS <= FUNCTION_SECONDS


def test_a_call_fails_well_before_a_lease_ends() -> None:
    extension = WorkerSettings.model_fields["visibility_extension_amount"].default
    assert aws.USUAL_LIMITS.worst_case_seconds <= 0.6 * LEASE_PER_EXTENSION * extension


def test_a_long_poll_is_waited_for_and_not_repeated() -> None:
    assert aws.POLLING_LIMITS.read_seconds > LONG_POLL_SECONDS
    assert aws.POLLING_LIMITS.worst_case_seconds <= FUNCTION_SECONDS


@pytest.mark.parametrize(
    "seconds",
    [
        ecs.TIMEOUT_SECONDS,
        otlp.SECONDS,
        webhooks.SECONDS,
        2 * chat.SECONDS_PER_CALL + chat.MAX_WAIT_SECONDS,  # one wait, then the last try
    ],
)
def test_what_is_not_aws_ends_sooner_than_a_call_to_aws(seconds: float) -> None:
    assert seconds <= aws.USUAL_LIMITS.worst_case_seconds


@pytest.mark.parametrize("tries", [1, 2])
def test_a_service_that_never_answers_is_asked_as_often_as_the_limits_say(
    black_hole: socket.socket, tries: int
) -> None:
    limits = aws.TimeLimits(connect_seconds=1, read_seconds=1, tries=tries)
    endpoint = f"http://127.0.0.1:{black_hole.getsockname()[1]}"
    s3 = aws.client("s3", limits, endpoint_url=endpoint, **IN_A_REGION)
    began = time.monotonic()

    with pytest.raises(AnswerLost):
        aws.call(s3.get_object, Bucket="bucket", Key="key")

    assert time.monotonic() - began <= limits.worst_case_seconds + 1
    assert connections_to(black_hole) == tries
