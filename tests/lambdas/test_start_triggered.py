"""The function behind triggers, as the event source mapping of their queue calls it."""

import json
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.ports import KeyTaken
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.triggers import S3_EVENT, a_message, a_trigger
from tests.lambdas.conftest import FakeContext, load_handler

QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:trigger-queue-test"


def a_batch(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": "r",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": str(NOW_MS),
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "ApproximateFirstReceiveTimestamp": str(NOW_MS + 1),
                },
                "messageAttributes": {},
                "md5OfBody": "0",
                "eventSource": "aws:sqs",
                "eventSourceARN": QUEUE_ARN,
                "awsRegion": "eu-west-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


@pytest.fixture(autouse=True)
def triggers(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> DynamoDbTriggerStore:
    """Return triggers with one on uploads, and a logger of their own."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", request.node.name)
    monkeypatch.setenv(
        "TRIGGER_QUEUE_URL", "https://sqs.eu-west-1.amazonaws.com/1/trigger-queue-test"
    )
    region = {"LocationConstraint": cloud["AWS_DEFAULT_REGION"]}
    aws.client("s3").create_bucket(Bucket=cloud["S3_BUCKET"], CreateBucketConfiguration=region)
    dynamodb = aws.client("dynamodb")
    definitions = DynamoDbDefinitionStore(DynamoDbTable(dynamodb, "definitions-test"))
    definitions.put(TENANT, "scrape", a_definition())
    store = DynamoDbTriggerStore(DynamoDbTable(dynamodb, "state-test"))
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    return store


def jobs() -> list[str]:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    page = DynamoDbJobStore(table).page(TENANT, limit=50, cursor=None)
    return [job.name for job in page.jobs]


def test_one_event_delivered_three_times_starts_one_job(triggers: DynamoDbTriggerStore) -> None:
    handler = load_handler("start_triggered").handler
    assert handler(a_batch(a_message(), a_message()), FakeContext()) == {"batchItemFailures": []}
    assert handler(a_batch(a_message()), FakeContext()) == {"batchItemFailures": []}
    assert jobs() == ["upload uploads/orders.csv"]
    found = triggers.find(TENANT, "uploads")
    assert found is not None
    assert found.last_run is not None
    assert found.last_run.job_id is not None


def test_a_refused_event_is_parked_logged_and_counted(
    cloud: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = S3_EVENT | {"id": "e-2", "detail": {"secret": "what only the bucket may know"}}
    batch = a_batch(a_message(), a_message(lacking), "poison", a_message(trigger="nobodys"))
    answer = load_handler("start_triggered").handler(batch, FakeContext())
    assert answer == {"batchItemFailures": []}
    listed = aws.client("s3").list_objects_v2(Bucket=cloud["S3_BUCKET"], Prefix="parked/")
    assert [found["Key"] for found in listed["Contents"]] == [
        "parked/trigger-queue-test/2027-01-15/m1.json",
        "parked/trigger-queue-test/2027-01-15/m2.json",
    ]
    printed = capsys.readouterr().out
    lines = [json.loads(line) for line in printed.splitlines()]
    emitted = [(line["level"], line["message"]) for line in lines if "message" in line]
    assert emitted == [
        ("INFO", "trigger fired"),
        ("ERROR", "trigger refused"),
        ("ERROR", "trigger refused"),
        ("INFO", "event is dropped"),
    ]
    (counted,) = [line for line in lines if "TriggersRefused" in line]
    assert (counted["TriggersRefused"], counted["TriggersFired"]) == ([1, 1], [1])
    assert "what only the bucket may know" not in printed


def test_exactly_what_an_outage_hit_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_handler("start_triggered")
    submitter = module.starter().submitter
    take = submitter.submission_keys.take

    def refuse_the_first(tenant: str, key: str, taken: KeyTaken, *, kind: KeyKind) -> KeyTaken:
        if key.endswith("/hit"):
            raise Unavailable("throttled")
        answer: KeyTaken = take(tenant, key, taken, kind=kind)
        return answer

    monkeypatch.setattr(submitter.submission_keys, "take", refuse_the_first)
    batch = a_batch(a_message(S3_EVENT | {"id": "hit"}), a_message())
    answer = module.handler(batch, FakeContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert len(jobs()) == 1
