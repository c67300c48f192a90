"""Every adapter of a port, for the same assertions: in memory, and boto3 against moto."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, deserialized
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.contracts.tables import JOBS_INDEX, JOBS_ORDER, JOBS_TENANT
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    DefinitionStore,
    JobIntake,
    JobStore,
    Payloads,
    TaskGraph,
    TaskLeases,
)

REGION = "eu-west-1"
BUCKET = "artifacts"


@dataclass
class Backend:
    intake: JobIntake
    jobs: JobStore
    leases: TaskLeases
    graph: TaskGraph
    payloads: Payloads
    definitions: DefinitionStore
    keys: ApiKeys
    log: Any
    blobs: BlobStore
    queue: Any
    kept_events: Callable[[], list[dict[str, Any]]]


def in_memory() -> Iterator[Backend]:
    yard = MemoryYard(ManualClock())
    yield Backend(
        intake=yard.intake,
        jobs=yard.jobs,
        leases=yard.leases,
        graph=yard.graph,
        payloads=yard.payloads,
        definitions=yard.definitions,
        keys=yard.keys,
        log=yard.log,
        blobs=yard.blobs,
        queue=yard.queue,
        kept_events=lambda: list(yard.log.records.values()),
    )


def on_moto() -> Iterator[Backend]:
    with mock_aws():
        dynamodb = aws.client("dynamodb")
        state = DynamoDbTable(dynamodb, _state_table(dynamodb))
        events = DynamoDbTable(dynamodb, _table(dynamodb, "events-test"))
        definitions = DynamoDbTable(dynamodb, _table(dynamodb, "definitions-test"))
        s3 = aws.client("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        sqs = aws.client("sqs")
        queue_url = sqs.create_queue(QueueName="tasks")["QueueUrl"]
        blobs = S3BlobStore(s3, BUCKET)
        payloads = DynamoDbPayloads(state, blobs)
        yield Backend(
            intake=DynamoDbJobIntake(state, payloads),
            jobs=DynamoDbJobStore(state),
            leases=DynamoDbTaskLeases(state),
            graph=DynamoDbTaskGraph(state),
            payloads=payloads,
            definitions=DynamoDbDefinitionStore(definitions),
            keys=DynamoDbApiKeys(state),
            log=DynamoDbEventLog(events),
            blobs=blobs,
            queue=SqsTaskQueue(sqs, queue_url),
            kept_events=lambda: [
                deserialized(item) for item in dynamodb.scan(TableName=events.name)["Items"]
            ],
        )


@pytest.fixture(params=[in_memory, on_moto], ids=["memory", "moto"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    yield from request.param()


def _state_table(dynamodb: Any) -> str:
    return _table(
        dynamodb,
        "state-test",
        extra_attributes=[JOBS_TENANT, JOBS_ORDER],
        GlobalSecondaryIndexes=[
            {
                "IndexName": JOBS_INDEX,
                "KeySchema": [
                    {"AttributeName": JOBS_TENANT, "KeyType": "HASH"},
                    {"AttributeName": JOBS_ORDER, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def _table(
    dynamodb: Any, name: str, *, extra_attributes: list[str] | None = None, **more: Any
) -> str:
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"}
            for attribute in ["PK", "SK", *(extra_attributes or [])]
        ],
        **more,
    )
    return name
