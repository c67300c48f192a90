"""The dead-letter processor as the event source mapping of the task queue's DLQ calls it."""

import json
import logging
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, NOW_MS, a_plan
from tests.lambdas.conftest import FakeContext, load_handler

SECRET = "what only the bucket may know"
EDGES: dict[str, list[str]] = {"retryable": [], "running": [], "exhausted": []}
SHARED: dict[str, Any] = {
    "retryable": {"state": "QUEUED"},
    "running": {"state": "PROCESSING", "lease_until_ms": 10**15, "attempt": 3, "owner": "w/1"},
    "exhausted": {"state": "PROCESSING", "lease_until_ms": 1, "attempt": 3, "owner": "w/1"},
}


def a_record(message_id: str, body: str) -> dict[str, Any]:
    return {
        "messageId": message_id,
        "receiptHandle": "r",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": str(NOW_MS),
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": str(NOW_MS + 1),
            "DeadLetterQueueSourceArn": "arn:aws:sqs:eu-west-1:123456789012:task-queue-test",
        },
        "messageAttributes": {
            "requestId": {
                "stringValue": "order-1",
                "stringListValues": [],
                "binaryListValues": [],
                "dataType": "String",
            }
        },
        "md5OfBody": "0",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:task-queue-dlq-test",
        "awsRegion": "eu-west-1",
    }


def a_batch(*task_ids: str, **bodies: str) -> dict[str, Any]:
    named = {
        task_id: TaskMessage.to(JOB.task(task_id), run=1).model_dump_json(by_alias=True)
        for task_id in task_ids
    }
    return {"Records": [a_record(name, body) for name, body in (named | bodies).items()]}


@pytest.fixture
def graph(cloud: dict[str, str]) -> DynamoDbTaskGraph:
    """Return a job with one task in each state that a dead letter may find."""
    region = {"LocationConstraint": cloud["AWS_DEFAULT_REGION"]}
    aws.client("s3").create_bucket(Bucket=cloud["S3_BUCKET"], CreateBucketConfiguration=region)
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore())).write(a_plan(EDGES))
    for task_id, facts in SHARED.items():
        names = {f"#{name}": name for name in facts}
        values = {
            f":{name}": {"N": str(value)} if isinstance(value, int) else {"S": value}
            for name, value in facts.items()
        }
        aws.client("dynamodb").update_item(
            TableName="state-test",
            Key={
                "PK": {"S": f"TENANT#{JOB.tenant}#JOB#{JOB.job_id}"},
                "SK": {"S": f"TASK#{task_id}"},
            },
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in facts),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )
    return DynamoDbTaskGraph(table)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A name of its own: a logger goes on printing to where its first test printed."""
    name: str = request.node.name
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", name)
    return name


def found(graph: DynamoDbTaskGraph, ref: TaskRef) -> Task:
    task = graph.find(ref)
    assert task is not None
    return task


def parked(bucket: str) -> dict[str, Any]:
    s3 = aws.client("s3")
    keys = [o["Key"] for o in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    return {key: json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read()) for key in keys}


def test_each_message_of_a_batch_is_handled_by_the_state_of_its_task(
    cloud: dict[str, str], graph: DynamoDbTaskGraph, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    batch = a_batch("retryable", "running", "exhausted", "unknown", poison=f"no JSON {SECRET}")

    answer = load_handler("process_dead_letters").handler(batch, FakeContext())

    assert answer == {"batchItemFailures": []}
    assert found(graph, JOB.task("running")).state is TaskState.PROCESSING
    exhausted = found(graph, JOB.task("exhausted"))
    assert exhausted.state is TaskState.FAILED
    assert exhausted.outcome is not None
    assert exhausted.outcome.source == "dlq"
    (sent,) = aws.client("sqs").receive_message(
        QueueUrl=cloud["SQS_QUEUE_URL"], MaxNumberOfMessages=10
    )["Messages"]
    assert json.loads(sent["Body"])["taskId"] == "retryable"
    kept = parked(cloud["S3_BUCKET"])
    assert sorted(kept) == [
        "parked/tasks/2027-01-15/poison.json",
        "parked/tasks/2027-01-15/unknown.json",
    ]
    assert kept["parked/tasks/2027-01-15/poison.json"]["body"] == f"no JSON {SECRET}"
    assert kept["parked/tasks/2027-01-15/poison.json"]["queue"] == "tasks"
    records = [vars(record) for record in caplog.records]
    actions = [record["action"] for record in records if record["message"] == "dead letter"]
    assert actions == ["send again", "drop", "give up"]


@pytest.mark.usefixtures("graph", "service")
def test_a_parked_message_is_counted_and_logged_without_its_body(
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch = a_batch("retryable", one=f"\x1b[31m{SECRET}", two="no JSON")
    load_handler("process_dead_letters").handler(batch, FakeContext())
    printed = capsys.readouterr().out
    lines = [json.loads(line) for line in printed.splitlines()]
    emitted = [line for line in lines if line.get("message") == "dead letter parked"]
    assert [line["level"] for line in emitted] == ["ERROR", "ERROR"]
    (counted,) = [line for line in lines if "Quarantined" in line]
    assert (counted["Quarantined"], counted["Received"]) == ([1, 1], [3])
    assert SECRET not in printed


def test_exactly_the_messages_that_could_not_be_stored_are_returned(
    cloud: dict[str, str], graph: DynamoDbTaskGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load_handler("process_dead_letters")
    parking = module.dead_letters().parking
    put = parking.blobs.put

    def refuse_the_first(key: str, body: bytes, *, content_type: str) -> None:
        if key.endswith("one.json"):
            raise Unavailable("the bucket does not answer")
        put(key, body, content_type=content_type)

    monkeypatch.setattr(parking.blobs, "put", refuse_the_first)
    answer = module.handler(a_batch("exhausted", one="no", two="no"), FakeContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "one"}]}
    assert list(parked(cloud["S3_BUCKET"])) == ["parked/tasks/2027-01-15/two.json"]
    assert found(graph, JOB.task("exhausted")).state is TaskState.FAILED
