"""Every adapter of a port, for the same assertions: in memory, and boto3 against moto."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog, DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, deserialized
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.contracts.tables import (
    DUE_AT,
    DUE_INDEX,
    DUE_SHARD,
    EVENT_INDEXES,
    EVENT_SUMMARY,
    JOBS_INDEX,
    JOBS_ORDER,
    JOBS_TENANT,
    event_index_name,
)
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    DefinitionStore,
    EventReader,
    JobIntake,
    JobStore,
    Overdue,
    Payloads,
    TaskGraph,
    TaskLeases,
)

REGION = "eu-west-1"
BUCKET = "artifacts"
NUMBERS = {DUE_SHARD, DUE_AT}


@dataclass
class Backend:
    intake: JobIntake
    jobs: JobStore
    leases: TaskLeases
    graph: TaskGraph
    overdue: Overdue
    payloads: Payloads
    definitions: DefinitionStore
    keys: ApiKeys
    log: Any
    reader: EventReader
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
        overdue=yard.overdue,
        payloads=yard.payloads,
        definitions=yard.definitions,
        keys=yard.keys,
        log=yard.log,
        reader=yard.reader,
        blobs=yard.blobs,
        queue=yard.queue,
        kept_events=lambda: list(yard.log.records.values()),
    )


def on_moto() -> Iterator[Backend]:
    with mock_aws():
        dynamodb = aws.client("dynamodb")
        state = DynamoDbTable(dynamodb, _state_table(dynamodb))
        events = DynamoDbTable(dynamodb, _events_table(dynamodb))
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
            overdue=DynamoDbOverdue(state),
            payloads=payloads,
            definitions=DynamoDbDefinitionStore(definitions),
            keys=DynamoDbApiKeys(state),
            log=DynamoDbEventLog(events),
            reader=DynamoDbEventReader(events, EventOverflow(blobs, BUCKET)),
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
        extra_attributes=[JOBS_TENANT, JOBS_ORDER, DUE_SHARD, DUE_AT],
        GlobalSecondaryIndexes=[
            {
                "IndexName": JOBS_INDEX,
                "KeySchema": [
                    {"AttributeName": JOBS_TENANT, "KeyType": "HASH"},
                    {"AttributeName": JOBS_ORDER, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": DUE_INDEX,
                "KeySchema": [
                    {"AttributeName": DUE_SHARD, "KeyType": "HASH"},
                    {"AttributeName": DUE_AT, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
    )


def _events_table(dynamodb: Any) -> str:
    return _table(
        dynamodb,
        "events-test",
        extra_attributes=[f"{index}{key}" for index in EVENT_INDEXES for key in ("PK", "SK")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": event_index_name(index),
                "KeySchema": [
                    {"AttributeName": f"{index}PK", "KeyType": "HASH"},
                    {"AttributeName": f"{index}SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"}
                if index == EVENT_INDEXES[0]
                else {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(EVENT_SUMMARY)},
            }
            for index in EVENT_INDEXES
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
            {"AttributeName": attribute, "AttributeType": "N" if attribute in NUMBERS else "S"}
            for attribute in ["PK", "SK", *(extra_attributes or [])]
        ],
        **more,
    )
    return name
