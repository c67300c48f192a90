"""Handlers as AWS calls them, with moto behind their adapters."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from moto import mock_aws
from moto.backends import get_backend

from switchyard.adapters import aws
from tests.fakes.tables import BUCKET, REGION, a_table, events_table, state_table

ROOT = Path(__file__).parents[2]
ACCOUNT = "123456789012"  # moto's


@dataclass(frozen=True)
class FakeContext:
    function_name: str = "function"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:function"
    aws_request_id: str = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        return 30_000


Invoke = Callable[[dict[str, Any]], dict[str, Any]]


# A client takes longer to make than a test to run; what it reaches is empty each time.
_client = cache(aws.client)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with small_cloud(monkeypatch) as environment:
        yield environment


ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "POWERTOOLS_TRACE_DISABLED": "true",
    "POWERTOOLS_SERVICE_NAME": "test",
    "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
    "STAGE": "test",
    "EVENTBRIDGE_BUS_NAME": "harness",
    "STATE_TABLE_NAME": "state-test",
    "API_KEYS_TABLE_NAME": "api-keys-test",
    "TASK_DEFINITIONS_TABLE": "definitions-test",
    "DYNAMODB_EVENTS_TABLE_NAME": "events-test",
    "EVENTS_RETENTION_DAYS": "7",
    "S3_BUCKET": BUCKET,
    "TRIGGER_QUEUE_ARN": f"arn:aws:sqs:{REGION}:123456789012:trigger-queue",
    "TRIGGER_DEAD_LETTERS_ARN": f"arn:aws:sqs:{REGION}:123456789012:trigger-queue-dlq",
}
QUEUES = {
    "SQS_QUEUE_URL": "tasks",
    "DISPATCH_QUEUE_URL": "dispatches",
    "JOB_QUEUE_URL": "jobs",
    "ALERTS_QUEUE_URL": "alerts",
}
"""Queues by the variable that has their address."""


@contextmanager
def small_cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Provide tables, queues and a bus by moto, and the variables that name them."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(aws, "client", _client)
    with mock_aws():
        sqs = aws.client("sqs")
        _moto_dynamodb().tables = deepcopy(_empty_tables())
        aws.client("events").create_event_bus(Name="harness")
        addresses: dict[str, str] = {
            variable: sqs.create_queue(QueueName=queue)["QueueUrl"]
            for variable, queue in QUEUES.items()
        }
        for queue in ("trigger-queue", "trigger-queue-dlq"):
            sqs.create_queue(QueueName=queue)
        for variable, address in addresses.items():
            monkeypatch.setenv(variable, address)
        yield ENVIRONMENT | addresses


@cache  # to make them takes longer than to copy them
def _empty_tables() -> Any:
    dynamodb = aws.client("dynamodb")
    state_table(dynamodb)
    a_table(dynamodb, "definitions-test")
    a_table(dynamodb, "api-keys-test")
    events_table(dynamodb)
    return deepcopy(_moto_dynamodb().tables)


def _moto_dynamodb() -> Any:
    return get_backend("dynamodb")[ACCOUNT][REGION]


def load_handler(verb: str) -> ModuleType:
    """Import a fresh copy of a handler, as a cold start does."""
    path = ROOT / "lambdas" / verb / "handler.py"
    spec = importlib.util.spec_from_file_location(f"cold_{verb}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
