"""Processes messages of the task queue that were received three times and never settled."""

from functools import cache
from typing import Any

from switchyard import bootstrap
from switchyard.contracts.parked_messages import POISON_METRIC
from switchyard.contracts.sqs_records import SqsRecord
from switchyard.settings import DeadLetterSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.dead_letters.process_dead_letter import (
    DeadLetterProcessor,
    Handled,
    Parked,
)

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def dead_letters() -> DeadLetterProcessor:
    return bootstrap.dead_letter_processor(DeadLetterSettings())


@tracer.capture_method(capture_response=False)
def process_one(record: SQSRecord) -> None:
    report(dead_letters().process(SqsRecord.model_validate(record.raw_event).delivered))


def report(done: Handled | Parked) -> None:
    match done:
        case Handled():
            fields = {"tenant_id": done.ref.tenant, "request_id": done.ref.request_id}
            logger.warning("dead letter", extra=fields, action=done.action, reason=done.reason)
        case Parked():
            logger.error("dead letter parked", key=done.key, reason=done.reason)
            metrics.add_metric(POISON_METRIC, MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, process_one)
