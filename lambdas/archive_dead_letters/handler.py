"""Archives messages that ended in a dead-letter queue in the bucket, and counts them."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard import bootstrap
from switchyard.contracts.undeliverable import QUEUE, UNDELIVERABLE, DeadLetter, queue_name
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import ArchiveDeadLettersSettings
from switchyard.usecases.letters.keep_undeliverable import Undeliverable, UndeliverableKeeper

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def keeper() -> UndeliverableKeeper:
    return bootstrap.undeliverable_keeper(ArchiveDeadLettersSettings())


@tracer.capture_method(capture_response=False)
def keep_one(record: SQSRecord) -> None:
    logger.set_correlation_id(record.message_id)
    kept = keeper().keep(DeadLetter.model_validate(record.raw_event))
    logger.error("undeliverable", extra=fields_of(kept))
    metrics.add_metric(UNDELIVERABLE, MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    records = event["Records"]  # all of one queue: each has an event source mapping of its own
    metrics.add_dimension(QUEUE, queue_name(records[0]["eventSourceARN"]))
    metrics.add_metric("Received", MetricUnit.Count, len(records))
    return process_partial_response(event, keep_one, processor, context)


def fields_of(kept: Undeliverable) -> dict[str, str | None]:
    fields: dict[str, str | None] = {"queue": kept.queue, "reason": kept.reason, "key": kept.key}
    if kept.subject is None:
        return fields | {"problem": "the body is not an event"}
    return fields | kept.subject.model_dump()
