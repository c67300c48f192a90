"""Called with what no worker could handle three times: finds out what became of its task."""

from functools import cache
from typing import Any

from switchyard import bootstrap
from switchyard.contracts.quarantine import QUARANTINED
from switchyard.contracts.undeliverable import DeadLetter
from switchyard.settings import DeadLetterSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.letters.process_dead_letter import DeadLetterProcessor, Handled, PutAside

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def dead_letters() -> DeadLetterProcessor:
    return bootstrap.dead_letter_processor(DeadLetterSettings())


@tracer.capture_method(capture_response=False)
def process_one(record: SQSRecord) -> None:
    tell(dead_letters().process(DeadLetter.model_validate(record.raw_event).delivered))


def tell(done: Handled | PutAside) -> None:
    match done:
        case Handled():
            fields = {"tenant_id": done.ref.tenant, "request_id": done.ref.request_id}
            logger.warning("dead letter", extra=fields, action=done.action, reason=done.reason)
        case PutAside():
            logger.error("dead letter is put aside", key=done.key, reason=done.reason)
            metrics.add_metric(QUARANTINED, MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, process_one)
