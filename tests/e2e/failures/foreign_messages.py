"""Messages that other producers send, and what becomes of those that nobody can handle."""

import json
from typing import Any

from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsQueueSender
from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import DEFINITION
from tests.e2e.patience import eventually

FINAL = {"COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED"}


def define(cloud: RunningCloud, name: str, **facts: Any) -> None:
    with cloud.http as http:
        http.put(f"/task-definitions/{name}", json=DEFINITION | facts).raise_for_status()


def send(cloud: RunningCloud, body: str, *, queue: str = "task-queue", **attributes: str) -> str:
    """To one of the stage's queues; the message's id."""
    sqs = cloud.client("sqs")
    sent = sqs.send_message(
        QueueUrl=sqs.get_queue_url(QueueName=f"switchyard-local-{queue}")["QueueUrl"],
        MessageBody=body,
        MessageAttributes={
            name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
        },
    )
    message_id: str = sent["MessageId"]
    return message_id


def send_foreign(cloud: RunningCloud, request_id: str, **body: Any) -> str:
    return send(cloud, json.dumps({"name": "do"} | body), requestId=request_id)


def settled(cloud: RunningCloud, request_id: str) -> dict[str, Any]:
    """The control item of another producer's task."""
    table = cloud.table(cloud.output("infrastructure", "StateTableName"))
    key = {"PK": f"TENANT#local#JOB#~{request_id}", "SK": "TASK#task"}

    def look() -> dict[str, Any] | None:
        item: dict[str, Any] = table.get_item(Key=key, ConsistentRead=True).get("Item", {})
        return item if item.get("state") in FINAL else None

    return eventually(look, f"{request_id} is not settled")


def parked_messages(cloud: RunningCloud) -> ParkedMessages:
    bucket = cloud.output("infrastructure", "ArtifactsBucketName")
    return ParkedMessages(
        blobs=S3BlobStore(cloud.client("s3"), bucket),
        queue_sender=SqsQueueSender(cloud.client("sqs")),
    )
