"""The sweeper as a schedule calls it."""

import json
import logging

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.memory.transport import MemoryBlobStore
from switchyard.adapters.system import SystemClock
from tests.builders import JOB_ID, TENANT, a_plan
from tests.lambdas.conftest import FakeContext, load_handler

LONG_AGO_MS = 120_000
TICK = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}


def test_a_job_whose_event_was_lost_has_its_roots_sent_and_each_nudge_is_logged(
    cloud: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
    intake.write(a_plan())
    intake.open(a_plan(), now_ms=SystemClock().now_ms() - LONG_AGO_MS)
    handler = load_handler("sweep").handler
    handler(TICK, FakeContext())
    handler(TICK, FakeContext())
    messages = aws.client("sqs").receive_message(
        QueueUrl=cloud["SQS_QUEUE_URL"], MaxNumberOfMessages=10
    )["Messages"]
    assert {json.loads(m["Body"])["taskId"] for m in messages} == {
        "scrape-store",
        "analyze-competitors",
    }
    (logged,) = [vars(record) for record in caplog.records if record.message == "overdue"]
    assert logged["tenant_id"] == TENANT
    assert logged["request_id"] == f"{JOB_ID}____start__"
    assert (logged["action"], logged["reason"]) == ("dispatch", "completed, not dispatched")
