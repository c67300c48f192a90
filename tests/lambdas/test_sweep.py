"""The sweeper as a schedule calls it."""

import logging

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock
from switchyard.contracts.dispatch_messages import WakeUp, wake_up
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.errors import UnknownQueue
from switchyard.domain.ids import START
from switchyard.domain.tasks.task import TaskRun
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, JOB_ID, TENANT, a_plan
from tests.lambdas.conftest import FakeContext, load_handler

LONG_AGO_MS = 120_000
TICK = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}


def overdue_job(table: DynamoDbTable) -> None:
    intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
    intake.write(a_plan())
    intake.open(a_plan(), now_ms=SystemClock().now_ms() - LONG_AGO_MS)


def test_what_is_overdue_is_nudged_on_even_if_nobody_can_be_woken_to_tell(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALERTS_QUEUE_URL", "https://sqs.eu-west-1.amazonaws.com/1/gone")
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    overdue_job(table)
    store = DynamoDbAlertStore(table)
    store.lease(Alert(key="alarm/x"), now_ms=SystemClock().now_ms() - LONG_AGO_MS)
    with pytest.raises(UnknownQueue):
        load_handler("sweep").handler(TICK, FakeContext())
    assert "Messages" in aws.client("sqs").receive_message(QueueUrl=cloud["DISPATCH_QUEUE_URL"])


def test_a_job_whose_event_was_lost_is_sent_to_the_dispatcher_and_each_nudge_is_logged(
    cloud: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    overdue_job(table)
    handler = load_handler("sweep").handler
    handler(TICK, FakeContext())
    handler(TICK, FakeContext())
    [message] = aws.client("sqs").receive_message(
        QueueUrl=cloud["DISPATCH_QUEUE_URL"], MaxNumberOfMessages=10
    )["Messages"]
    assert wake_up(message["Body"]) == WakeUp(TaskRun(JOB.task(START), 1), by_event=False)
    (logged,) = [vars(record) for record in caplog.records if record.message == "overdue"]
    assert logged["tenant_id"] == TENANT
    assert logged["request_id"] == f"{JOB_ID}____start__"
    assert (logged["action"], logged["reason"]) == ("dispatch", "completed, not dispatched")
