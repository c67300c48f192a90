"""Dispatcher and save-event as an event source mapping calls them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.cancelling import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import deserialized
from switchyard.adapters.memory.transport import MemoryBlobStore
from switchyard.contracts.dispatching import DispatchMessage
from switchyard.contracts.events import Context, Event, JobCreated
from switchyard.domain.task import TaskRun
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, a_plan
from tests.lambdas.conftest import FakeContext, load_handler


def a_created_event() -> dict[str, Any]:
    return Event.of(
        JobCreated(job_id=JOB_ID, request_id=JOB_ID, run=1, tasks=(), total_tasks=5),
        tenant=TENANT,
        app="task-workflow",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    ).detail()


def a_batch(*details: Any) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{n}",
                "receiptHandle": "r",
                "body": d if isinstance(d, str) else json.dumps({"detail": d, "source": "x"}),
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:q",
                "awsRegion": "eu-west-1",
            }
            for n, d in enumerate(details)
        ]
    }


def returned(answer: dict[str, Any]) -> list[str]:
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


@pytest.mark.usefixtures("cloud")
def test_every_event_is_saved_once_and_exactly_the_bad_ones_come_back() -> None:
    handler = load_handler("save_event").handler
    event = a_created_event()
    stranger = event | {"tenantId": "other"}
    answer = handler(a_batch(event, "not json", event | {"new": 1}, stranger), FakeContext())
    assert returned(answer) == ["m1", "m3"]
    (item,) = aws.client("dynamodb").scan(TableName="events-test")["Items"]
    saved = deserialized(item)
    assert "new" not in saved
    assert {k: saved[k] for k in event if k != "properties"} == {
        k: v for k, v in event.items() if k != "properties"
    }
    assert saved["ttl"] * 1000 - saved["receivedAt"] == pytest.approx(7 * 86_400_000, abs=1000)


@pytest.fixture
def opened(cloud: dict[str, str]) -> dict[str, str]:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
    intake.write(a_plan())
    intake.open(a_plan(), now_ms=NOW_MS)
    return cloud


def waking(queue_url: str) -> list[Any]:
    answer = aws.client("sqs").receive_message(
        QueueUrl=queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
    )
    return list(answer.get("Messages", []))


def test_a_new_job_has_its_roots_sent_and_exactly_the_bad_ones_come_back(
    opened: dict[str, str],
) -> None:
    handler = load_handler("dispatch").handler
    unknown = a_created_event() | {"entityId": JOB_ID.replace("1", "2")}
    directly = DispatchMessage.to(TaskRun(JOB.task("nobody"), 1)).model_dump_json(by_alias=True)
    answer = handler(a_batch("nonsense", a_created_event(), unknown, directly), FakeContext())
    assert returned(answer) == ["m0", "m2", "m3"]
    messages = waking(opened["SQS_QUEUE_URL"])
    attributes = {m["MessageAttributes"]["requestId"]["StringValue"] for m in messages}
    assert attributes == {f"{JOB_ID}__scrape-store", f"{JOB_ID}__analyze-competitors"}


def test_what_was_left_over_is_taken_up_again(
    opened: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load_handler("dispatch")
    over = replace(module.dispatcher(), seconds=0)
    monkeypatch.setattr(module, "dispatcher", lambda: over)
    assert returned(module.handler(a_batch(a_created_event()), FakeContext())) == []
    assert waking(opened["SQS_QUEUE_URL"]) == []
    [left] = waking(opened["DISPATCH_QUEUE_URL"])
    handler = load_handler("dispatch").handler
    assert returned(handler(a_batch(left["Body"]), FakeContext())) == []
    assert len(waking(opened["SQS_QUEUE_URL"])) == 2


def test_a_job_to_go_on_with_is_gone_on_with(opened: dict[str, str]) -> None:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    job = DynamoDbJobStore(table).find(JOB)
    assert job is not None
    assert DynamoDbCancelling(table).begin(job, now_ms=NOW_MS)
    handler = load_handler("dispatch").handler
    sent = DispatchMessage.to(JOB).model_dump_json(by_alias=True, exclude_none=True)
    assert returned(handler(a_batch(sent, a_created_event()), FakeContext())) == []
    tasks = DynamoDbJobStore(table).picture(JOB).visible_tasks
    assert all(task.cancel_requested or task.state.settled for task in tasks)
    assert waking(opened["SQS_QUEUE_URL"]) == []
