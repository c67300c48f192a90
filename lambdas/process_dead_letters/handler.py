"""Called with what no worker could handle three times: finds out what became of its task."""

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
from switchyard.contracts.quarantine import QUARANTINED, RECEIVED
from switchyard.contracts.undeliverable import DeadLetter
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import DeadLetterSettings
from switchyard.usecases.letters.process_dead_letter import DeadLetterProcessor, Handled, PutAside

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def dead_letters() -> DeadLetterProcessor:
    return bootstrap.dead_letter_processor(DeadLetterSettings())


@tracer.capture_method(capture_response=False)
def process_one(record: SQSRecord) -> None:
    logger.set_correlation_id(record.message_id)
    tell(dead_letters().process(DeadLetter.model_validate(record.raw_event).delivered))


def tell(done: Handled | PutAside) -> None:
    match done:
        case Handled():
            fields = {"tenant_id": done.ref.tenant, "request_id": done.ref.request_id}
            logger.warning("dead letter", extra=fields, action=done.action, reason=done.reason)
        case PutAside():
            logger.error("dead letter is put aside", key=done.key, reason=done.reason)
            metrics.add_metric(QUARANTINED, MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric(RECEIVED, MetricUnit.Count, len(event["Records"]))
    return process_partial_response(event, process_one, processor, context)
