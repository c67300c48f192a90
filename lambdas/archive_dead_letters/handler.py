"""Archives messages that ended in a dead-letter queue in the bucket, and counts them.

Deployed as `alert`: that name is older than the folder (`contracts/function_names.py`).
"""

from functools import cache
from typing import Any

from switchyard import bootstrap
from switchyard.contracts.parked_messages import (
    DEAD_LETTER_METRIC,
    QUEUE,
    ParkedMessage,
    event_in,
)
from switchyard.contracts.sqs_records import DeadLetter, queue_name
from switchyard.settings import ArchiveDeadLettersSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.dead_letters.park_message import DeadLetterArchive

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def archive() -> DeadLetterArchive:
    return bootstrap.dead_letter_archive(ArchiveDeadLettersSettings())


@tracer.capture_method(capture_response=False)
def park_one(record: SQSRecord) -> None:
    parked = archive().park(DeadLetter.model_validate(record.raw_event))
    logger.error("dead letter parked", extra=fields_of(parked))
    metrics.add_metric(DEAD_LETTER_METRIC, MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    records = event["Records"]  # all of one queue: each has an event source mapping of its own
    metrics.add_dimension(QUEUE, queue_name(records[0]["eventSourceARN"]))
    return batch.process(event, context, park_one)


def fields_of(parked: ParkedMessage) -> dict[str, str | None]:
    fields: dict[str, str | None] = {
        "queue": parked.queue,
        "reason": parked.reason,
        "key": parked.key,
    }
    event = event_in(parked.body)
    if event is None:
        return fields | {"problem": "the body is not an event"}
    return fields | event.model_dump()
