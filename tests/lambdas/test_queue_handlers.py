"""Dispatcher and save-event as an event source mapping calls them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.counters import DynamoDbCounters
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import deserialized
from switchyard.contracts.dispatch_messages import DispatchMessage
from switchyard.contracts.events import (
    Context,
    Event,
    JobCreated,
    TaskCompleted,
    UsageFigures,
)
from switchyard.domain.measuring.counts import Counts, Spending
from switchyard.domain.tasks.task import TaskRun
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, TRACEPARENT, a_plan
from tests.fakes.servers.otlp_receiver import an_otlp_receiver
from tests.fakes.servers.webhook_server import a_closed_port
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


def a_completed_event() -> dict[str, Any]:
    usage = UsageFigures(input_tokens=3, cost_usd=0.25)
    return Event.of(
        TaskCompleted(
            job_id=JOB_ID,
            request_id=f"{JOB_ID}__a",
            run=1,
            name="scrape",
            duration_ms=1_234,
            exit_code=0,
            usage=usage,
        ),
        tenant=TENANT,
        app="task-workflow",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    ).detail()


@pytest.mark.usefixtures("cloud")
def test_an_event_is_counted_once_however_often_it_comes() -> None:
    handler = load_handler("save_event").handler
    batch = a_batch(a_completed_event(), "not json", a_completed_event(), a_created_event())
    for _ in range(2):
        assert returned(handler(batch, FakeContext())) == ["m1"]

    counters = DynamoDbCounters(DynamoDbTable(aws.client("dynamodb"), "state-test"))
    spent = Spending(cost_micro_usd=250_000, input_tokens=3)
    assert counters.between(NOW_MS, NOW_MS + 1) == {
        NOW_MS: Counts(completions=1, timed=1, processing_ms=1_234, by_definition={"scrape": spent})
    }


def test_an_event_that_cannot_be_counted_is_saved_and_logged(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("STATE_TABLE_NAME", "no-such-table")
    handler = load_handler("save_event").handler

    assert returned(handler(a_batch(a_completed_event()), FakeContext())) == []

    saved = aws.client("dynamodb").scan(TableName=cloud["DYNAMODB_EVENTS_TABLE_NAME"])
    assert saved["Count"] == 1
    assert "events are not counted" in caplog.messages


def a_traced_event() -> dict[str, Any]:
    event = a_completed_event()
    context = event["context"] | {"traceId": TRACEPARENT.split("-")[1]}
    return event | {
        "context": context,
        "properties": event["properties"] | {"startedAt": NOW_MS - 1_234},
    }


@pytest.mark.usefixtures("cloud")
def test_an_attempt_is_shown_to_a_collector_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = a_batch(a_traced_event(), a_created_event())
    with an_otlp_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=web")
        monkeypatch.setenv("OTLP_SECRET", "switchyard/test/otlp")
        secret = {"Name": "switchyard/test/otlp", "SecretString": "authorization=Bearer%20abc"}
        aws.client("secretsmanager").create_secret(**secret)
        handler = load_handler("save_event").handler
        for _ in range(2):
            assert returned(handler(batch, FakeContext())) == []
        [span], [headers] = receiver.spans(), receiver.headers

    assert (span["name"], span["endTimeUnixNano"]) == ("task scrape", f"{NOW_MS}000000")
    assert span["attributes"]["switchyard.cost_usd"] == 0.25
    assert span["resource"]["deployment.environment.name"] == "test"
    assert (headers["x-team"], headers["authorization"]) == ("web", "Bearer abc")


def test_an_event_whose_span_cannot_be_exported_is_saved_and_logged(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{a_closed_port()}")
    handler = load_handler("save_event").handler

    assert returned(handler(a_batch(a_traced_event()), FakeContext())) == []

    saved = aws.client("dynamodb").scan(TableName=cloud["DYNAMODB_EVENTS_TABLE_NAME"])
    assert saved["Count"] == 1
    assert "spans are not exported" in caplog.messages


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
