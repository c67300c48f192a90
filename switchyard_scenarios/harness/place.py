"""The places where harnesses are laid out: the local cloud, or the account of a deployed stage."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

from switchyard.adapters import aws
from switchyard.bootstrap import stage_endpoint
from switchyard.domain.errors import SwitchyardError
from switchyard_local.endpoint import Endpoint
from switchyard_local.environments import aws_environment
from switchyard_local.say import Say
from switchyard_scenarios.errors import BadUsage

LOCAL: Final = "local"
SERVICES: Final = ("sqs", "dynamodb", "events", "s3", "lambda")


@dataclass(frozen=True, kw_only=True)
class Place:
    stage: str
    client: Callable[[str], Any]
    """Returns the client of a service, by its name."""
    environment: Mapping[str, str]
    """The variables that a worker process needs to reach the same place."""
    function_role: str = ""
    """The ARN of the role that a Lambda function of a scenario may have; empty, if there is none.
    The local cloud asks for none."""
    interrupted: Callable[[], bool] = lambda: False
    """Whether the user asked the scenarios to end; code that waits has to check it."""


class Cloud(Protocol):
    def borrowed(self, say: Say) -> AbstractContextManager[bool]: ...

    def endpoint(self) -> Endpoint: ...


@contextmanager
def local_place(cloud: Cloud, say: Say) -> Iterator[Place]:
    with cloud.borrowed(say):
        endpoint = cloud.endpoint()
        yield Place(
            stage=LOCAL,
            client=clients(**endpoint.connection),
            environment=aws_environment(endpoint.port),
        )


def stage_place(stage: str, environment: Mapping[str, str] = os.environ) -> Place:
    """Return a stage, with whatever credentials the environment has. Raise `BadUsage`."""
    if stage == "prod":
        raise BadUsage("Scenarios make trouble on purpose: the stage prod is spared.")
    try:
        stage_endpoint(stage)
    except SwitchyardError as error:
        why = str(error).rstrip(".")
        raise BadUsage(f"The stage {stage} was not found in this account: {why}.") from error
    own = {name: value for name, value in environment.items() if name.startswith("AWS_")}
    home = {"HOME": environment["HOME"]} if "HOME" in environment else {}
    return Place(stage=stage, client=clients(), environment=own | home)


def clients(**where: str) -> Callable[[str], Any]:
    """Make all clients now: a client must not be made by two threads at once."""
    client = cache(lambda service: aws.client(service, **where))
    for service in SERVICES:
        client(service)
    return client
