"""Handlers as AWS calls them, with moto behind their adapters."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from tests.fakes.tables import BUCKET, REGION, a_table, events_table, state_table

ROOT = Path(__file__).parents[2]


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


@contextmanager
def small_cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Provide tables, queues and a bus by moto, and the variables that name them."""
    environment = {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "POWERTOOLS_TRACE_DISABLED": "true",
        "POWERTOOLS_SERVICE_NAME": "test",
        "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
        "STAGE": "test",
        "EVENTBRIDGE_BUS_NAME": "yard",
        "STATE_TABLE_NAME": "state-test",
        "API_KEYS_TABLE_NAME": "api-keys-test",
        "TASK_DEFINITIONS_TABLE": "definitions-test",
        "DYNAMODB_EVENTS_TABLE_NAME": "events-test",
        "EVENTS_RETENTION_DAYS": "7",
        "S3_BUCKET": BUCKET,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(aws, "client", _client)
    with mock_aws():
        dynamodb = aws.client("dynamodb")
        state_table(dynamodb)
        a_table(dynamodb, "definitions-test")
        a_table(dynamodb, "api-keys-test")
        events_table(dynamodb)
        aws.client("events").create_event_bus(Name="yard")
        queue_url = aws.client("sqs").create_queue(QueueName="tasks")["QueueUrl"]
        monkeypatch.setenv("SQS_QUEUE_URL", queue_url)
        dispatches = aws.client("sqs").create_queue(QueueName="dispatches")["QueueUrl"]
        monkeypatch.setenv("DISPATCH_QUEUE_URL", dispatches)
        jobs = aws.client("sqs").create_queue(QueueName="jobs")["QueueUrl"]
        monkeypatch.setenv("JOB_QUEUE_URL", jobs)
        alerts = aws.client("sqs").create_queue(QueueName="alerts")["QueueUrl"]
        monkeypatch.setenv("ALERTS_QUEUE_URL", alerts)
        yield environment | {
            "SQS_QUEUE_URL": queue_url,
            "DISPATCH_QUEUE_URL": dispatches,
            "JOB_QUEUE_URL": jobs,
        }


def load_handler(verb: str) -> ModuleType:
    """A fresh copy, as a cold start would import it."""
    path = ROOT / "lambdas" / verb / "handler.py"
    spec = importlib.util.spec_from_file_location(f"cold_{verb}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
