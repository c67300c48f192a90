"""Archives messages that ended in a dead-letter queue in the bucket, and counts them."""

from functools import cache
from typing import Any

from switchyard import bootstrap
from switchyard.contracts.undeliverable import QUEUE, UNDELIVERABLE, DeadLetter, queue_name
from switchyard.settings import ArchiveDeadLettersSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.letters.keep_undeliverable import Undeliverable, UndeliverableKeeper

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def keeper() -> UndeliverableKeeper:
    return bootstrap.undeliverable_keeper(ArchiveDeadLettersSettings())


@tracer.capture_method(capture_response=False)
def keep_one(record: SQSRecord) -> None:
    kept = keeper().keep(DeadLetter.model_validate(record.raw_event))
    logger.error("undeliverable", extra=fields_of(kept))
    metrics.add_metric(UNDELIVERABLE, MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    records = event["Records"]  # all of one queue: each has an event source mapping of its own
    metrics.add_dimension(QUEUE, queue_name(records[0]["eventSourceARN"]))
    return batch.process(event, context, keep_one)


def fields_of(kept: Undeliverable) -> dict[str, str | None]:
    fields: dict[str, str | None] = {"queue": kept.queue, "reason": kept.reason, "key": kept.key}
    if kept.subject is None:
        return fields | {"problem": "the body is not an event"}
    return fields | kept.subject.model_dump()
