"""The Lambda function of the partial batch: it answers for each message by itself.

It runs alone, out of an archive (`switchyard_scenarios/harness/behind_lambda.py`): nothing else of
Switchyard is there.
"""

import hashlib
import os
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Final

import boto3
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

FAILURES: Final = "failures"
"""The field of a message's input that says how many of its deliveries fail."""

processor = BatchProcessor(event_type=EventType.SQS)


class Failing(Exception):
    """A failure after which the message has to come again."""


@cache
def dynamodb() -> Any:
    return boto3.client("dynamodb")


def handle(record: SQSRecord, *, tables: Any, batch: str) -> None:
    """Record the delivery, whatever its outcome. Raise `Failing`."""
    message = {"message_id": {"S": _name_of(record)}}
    digest = {"S": hashlib.sha256(record.body.encode()).hexdigest()}
    tables.update_item(
        TableName=os.environ["MESSAGE_STATUS_TABLE"],
        Key=message,
        UpdateExpression=(
            "ADD attempts :one SET #status = if_not_exists(#status, :started),"
            " last_updated = :now, payload_digest = :digest,"
            " first_batch = if_not_exists(first_batch, :batch)"
        ),
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={
            ":one": {"N": "1"},
            ":started": {"S": "STARTED"},
            ":batch": {"S": batch},
            ":now": _now(),
            ":digest": digest,
        },
    )
    delivery = int(record.attributes.approximate_receive_count)
    if delivery <= record.json_body["input"][FAILURES]:
        raise Failing(f"{_name_of(record)} fails on delivery {delivery}")
    row = {**message, "processed_at": _now(), "payload_digest": digest}
    tables.put_item(TableName=os.environ["MESSAGE_COMPLETED_TABLE"], Item=row)
    tables.update_item(
        TableName=os.environ["MESSAGE_STATUS_TABLE"],
        Key=message,
        UpdateExpression="SET #status = :completed, last_updated = :now",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":completed": {"S": "COMPLETED"}, ":now": _now()},
    )


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    if not event["Records"]:  # it is only to start
        dynamodb()
        return {"batchItemFailures": []}
    each = partial(handle, tables=dynamodb(), batch=context.aws_request_id)
    return process_partial_response(event, each, processor, context)


def all_or_nothing(event: dict[str, Any], context: LambdaContext) -> None:
    """A defect, for a planted run: one that fails brings all of its batch back."""
    failed = []
    for record in map(SQSRecord, event["Records"]):
        try:
            handle(record, tables=dynamodb(), batch=context.aws_request_id)
        except Failing as failure:
            failed.append(failure)
    if failed:
        raise failed[0]


def _now() -> dict[str, str]:
    return {"S": datetime.now(UTC).isoformat()}  # noqa: TID251 - none of our clocks is there


def _name_of(record: SQSRecord) -> str:
    attribute = record.message_attributes["requestId"]
    return (attribute and attribute.string_value) or record.message_id
