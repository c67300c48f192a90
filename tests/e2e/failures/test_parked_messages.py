"""What ended in a dead-letter queue is in the bucket, and the queue is empty again."""

import json
from datetime import datetime
from typing import Any

import pytest

from tests.e2e.conftest import RunningCloud
from tests.e2e.patience import eventually

NOT_AN_EVENT = '{"detail": "\\u001b[31mnobody can save this\\n"'


@pytest.mark.parametrize(
    "queue",
    [
        "switchyard-local-event-queue-dlq",
        "switchyard-local-dispatch-queue-dlq",
        "switchyard-local-job-queue-dlq",
        "switchyard-local-trigger-queue-dlq",
        "switchyard-local-undeliverable-events-dlq",
    ],
)
def test_a_dead_letter_is_parked_whole_and_its_queue_is_drained(
    cloud: RunningCloud, queue: str
) -> None:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    noted = {"ERROR_CODE": {"DataType": "String", "StringValue": "SDK_CLIENT_ERROR"}}
    sent = sqs.send_message(QueueUrl=url, MessageBody=NOT_AN_EVENT, MessageAttributes=noted)
    parked = eventually(
        lambda: parked_message(cloud, queue, sent["MessageId"]), "it was not parked"
    )
    assert parked["body"] == NOT_AN_EVENT
    assert parked["queue"] == queue
    assert parked["messageAttributes"]["ERROR_CODE"]["stringValue"] == "SDK_CLIENT_ERROR"
    assert datetime.fromisoformat(parked["sentAt"]) <= datetime.fromisoformat(parked["parkedAt"])
    drained = "it was parked, and is still in the queue"
    eventually(lambda: cloud.messages(url) == (0, 0) or None, drained)


def parked_message(cloud: RunningCloud, queue: str, message_id: str) -> Any:
    s3, bucket = cloud.client("s3"), cloud.output("infrastructure", "ArtifactsBucketName")
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"parked/{queue}/")
    for found in listed.get("Contents", []):
        if found["Key"].endswith(f"/{message_id}.json"):
            return json.load(s3.get_object(Bucket=bucket, Key=found["Key"])["Body"])
    return None
