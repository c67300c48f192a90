"""Calls `archive_dead_letters` as the event source mappings of dead-letter queues do."""

import json
import logging
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.domain.errors import Unavailable
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.lambdas.conftest import FakeContext, load_handler

QUEUE = "undeliverable-events-dlq-test"
REQUEST_ID = f"{JOB_ID}__scrape-store"
DAY = "2027-01-15"
SECRET = "what only the bucket may know"
BODY = json.dumps(
    {
        "detail-type": "log-event",
        "detail": {
            "eventType": "Task Completed",
            "entityId": REQUEST_ID,
            "tenantId": TENANT,
            "properties": {"output": SECRET},
        },
    }
)
NOTES = {
    "RULE_ARN": "arn:aws:events:eu-west-1:123456789012:rule/yard/saves",
    "TARGET_ARN": "arn:aws:sqs:eu-west-1:123456789012:event-queue-test",
    "ERROR_CODE": "NO_PERMISSIONS",
    "ERROR_MESSAGE": "denied\n\x1b[31m\u2028ERROR all is lost",
}


def a_batch(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{n}",
                "receiptHandle": "r",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": str(NOW_MS),
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "ApproximateFirstReceiveTimestamp": str(NOW_MS + 1),
                },
                "messageAttributes": {
                    name: {
                        "stringValue": value,
                        "stringListValues": [],
                        "binaryListValues": [],
                        "dataType": "String",
                    }
                    for name, value in NOTES.items()
                },
                "md5OfBody": "0",
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:eu-west-1:123456789012:{QUEUE}",
                "awsRegion": "eu-west-1",
            }
            for n, body in enumerate(bodies)
        ]
    }


@pytest.fixture
def bucket(cloud: dict[str, str]) -> str:
    region = {"LocationConstraint": cloud["AWS_DEFAULT_REGION"]}
    aws.client("s3").create_bucket(Bucket=cloud["S3_BUCKET"], CreateBucketConfiguration=region)
    return cloud["S3_BUCKET"]


@pytest.fixture
def service(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> str:
    """A name of its own: a logger goes on printing to where its first test printed."""
    name: str = request.node.name
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", name)
    return name


def kept(bucket: str) -> dict[str, Any]:
    s3 = aws.client("s3")
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    return {key: json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read()) for key in keys}


def test_every_message_is_parked_and_one_that_is_no_event_is_marked_so(
    bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = load_handler("archive_dead_letters").handler(a_batch(BODY, "not json"), FakeContext())
    assert answer == {"batchItemFailures": []}
    objects = kept(bucket)
    assert {key: kept["body"] for key, kept in objects.items()} == {
        f"parked/{QUEUE}/{DAY}/m0.json": BODY,
        f"parked/{QUEUE}/{DAY}/m1.json": "not json",
    }
    attributes = objects[f"parked/{QUEUE}/{DAY}/m0.json"]["messageAttributes"]
    assert {name: value["stringValue"] for name, value in attributes.items()} == NOTES
    event, other = [vars(record) for record in caplog.records if record.msg == "dead letter parked"]
    assert (event["levelno"], other["levelno"]) == (logging.ERROR, logging.ERROR)
    assert (event["event_type"], event["entity_id"]) == ("Task Completed", REQUEST_ID)
    assert event["tenant_id"] == TENANT
    assert event["reason"] == "NO_PERMISSIONS: denied [31m ERROR all is lost"
    assert (event["queue"], event["key"]) == (QUEUE, f"parked/{QUEUE}/{DAY}/m0.json")
    assert other["problem"] == "the body is not an event"


@pytest.mark.usefixtures("bucket", "service")
def test_a_parked_message_is_one_line_in_the_log_without_its_body(
    capsys: pytest.CaptureFixture[str],
) -> None:
    load_handler("archive_dead_letters").handler(a_batch(BODY), FakeContext())
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if '"dead letter parked"' in line]
    assert json.loads(line)["entity_id"] == REQUEST_ID
    assert SECRET not in printed
    assert "\x1b" not in printed


@pytest.mark.usefixtures("bucket")
def test_parked_messages_are_counted_for_their_queue(
    service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    load_handler("archive_dead_letters").handler(a_batch(BODY, "not json", "{}"), FakeContext())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (counted,) = [line for line in lines if "Undeliverable" in line]
    assert counted["Undeliverable"] == [1, 1, 1]
    (metrics,) = counted["_aws"]["CloudWatchMetrics"]
    (dimensions,) = metrics["Dimensions"]
    assert {name: counted[name] for name in dimensions} == {
        "service": service,
        "stage": "test",
        "queue": QUEUE,
    }


@pytest.mark.usefixtures("service")
def test_exactly_the_messages_that_could_not_be_stored_are_returned(
    bucket: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load_handler("archive_dead_letters")
    blobs = module.archive().blobs
    put = blobs.put

    def refuse_the_second(key: str, body: bytes, *, content_type: str) -> None:
        if key.endswith("m1.json"):
            raise Unavailable("the bucket does not answer")
        put(key, body, content_type=content_type)

    monkeypatch.setattr(blobs, "put", refuse_the_second)
    answer = module.handler(a_batch("a", "b", "c"), FakeContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert sorted(key[-7:] for key in kept(bucket)) == ["m0.json", "m2.json"]
    emitted = [
        line for line in capsys.readouterr().out.splitlines() if '"dead letter parked"' in line
    ]
    assert len(emitted) == 2


@pytest.mark.usefixtures("cloud")
def test_without_a_bucket_everything_comes_back() -> None:
    answer = load_handler("archive_dead_letters").handler(a_batch(BODY, "b"), FakeContext())
    assert [failed["itemIdentifier"] for failed in answer["batchItemFailures"]] == ["m0", "m1"]
