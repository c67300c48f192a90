"""The clouds for boto3 adapters: moto in this process, MiniStack beside it, and our simulation.

The simulated harness runs on that one, so it is held to the same suites.
"""

import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from switchyard.adapters.aws_services import Service
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import OneByOne, Threads
from switchyard.adapters.system import SystemClock
from switchyard.ports import Clock
from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.emulator.ministack import MiniStack
from switchyard_local.environments import aws_environment
from switchyard_local.home import Home
from tests.fakes.tables import REGION
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.s3 import S3
from tests.simulation.cloud.sqs import Queue, Sqs
from tests.simulation.kernel.world import World, WorldClock


class OneUpdateAtATime:
    """A client with AWS's promise that nothing comes between a condition and its write."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def update_item(self, **request: Any) -> Any:
        with self._lock:
            return self._client.update_item(**request)


@dataclass(frozen=True)
class Cloud:
    """Where it is known to differ from AWS, it says so."""

    client: Callable[[Service], Any]
    region: str
    accepts_stale_receipts: bool
    """Whether deleting with an old receipt succeeds, as it does on AWS."""
    keeps_event_times: bool
    """AWS does: a rule's targets are told the sender's time, not that of the arrival."""
    decides_and_writes_at_once: bool
    """AWS does. In moto another thread may come between a condition and its write: of 200 races
    of 8 threads for one item, 58 had two winners."""
    clock: Clock = field(default_factory=SystemClock)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def table(self, name: str) -> DynamoDbTable:
        parallel = Threads() if self.decides_and_writes_at_once else OneByOne()
        return DynamoDbTable(self.client("dynamodb"), name, parallel=parallel)

    def fresh(self, name: str) -> str:
        """A name that nothing else in this cloud has."""
        return f"{name}-{next(self._numbers)}"


@contextmanager
def on_moto() -> Iterator[Cloud]:
    with mock_aws():
        yield Cloud(
            client=_moto_client,
            region=REGION,
            accepts_stale_receipts=True,
            keeps_event_times=True,
            decides_and_writes_at_once=False,
        )


@cache  # a client takes longer to make than a test to run; what it reaches is empty each time
def _moto_client(service: Service) -> Any:
    credentials = {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    with _environment(credentials):
        return aws.client(service)


@contextmanager
def on_ministack(folder: Path) -> Iterator[Cloud]:
    home, port = Home(folder), _free_port()
    home.create()
    ministack = MiniStack(
        home,
        port,
        clock=SystemClock(),
        extra_environment={"PERSIST_STATE": "0", "S3_PERSIST": "0"},
    )
    try:
        ministack.start()
        ministack.wait_until_ready()
        environment = aws_environment(port)

        @cache
        def client(service: Service) -> Any:
            with _environment(environment):
                return aws.client(service)

        yield Cloud(
            client=client,
            region=environment["AWS_REGION"],
            accepts_stale_receipts=False,
            keeps_event_times=False,
            decides_and_writes_at_once=True,
        )
    finally:
        ministack.stop(keep_data=False)


@contextmanager
def simulated_cloud() -> Iterator[Cloud]:
    world = World(seed=0)
    queues: dict[str, Queue] = {}
    services = {"dynamodb": DynamoDb(items_per_page=7), "s3": S3(), "sqs": Sqs(queues, world)}
    try:
        yield Cloud(
            client=services.__getitem__,
            region=REGION,
            accepts_stale_receipts=True,
            keeps_event_times=True,
            decides_and_writes_at_once=True,
            clock=WorldClock(world),
        )
    finally:
        world.end()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
