"""Called when something may have gone wrong, or be over: looks at it, and tells people."""

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

from switchyard.bootstrap.watching import lookout as lookout_for
from switchyard.contracts.alerting import woken_subject
from switchyard.domain.errors import Unavailable
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import ReportIncidentsSettings
from switchyard.usecases.alerts.lookout import Lookout
from switchyard.usecases.alerts.tell_alone import Told

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
ENOUGH_MS = 12_000  # for one subject: a slow webhook takes ten seconds


@cache
def lookout() -> Lookout:
    return lookout_for(ReportIncidentsSettings())


@tracer.capture_method(capture_response=False)
def look(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """What is raised here brings its message back, and no other."""
    logger.set_correlation_id(record.message_id)
    if lambda_context.get_remaining_time_in_millis() < ENOUGH_MS:
        raise Unavailable("there is no time left for it")
    subject = woken_subject(record.body)
    told = lookout().woken(
        subject,
        sent_at_ms=int(record.attributes.sent_timestamp),
        batch=lambda_context.aws_request_id,
    )
    if told:
        tell(subject, told)


def tell(subject: str, told: Told) -> None:
    fields = {"subject": subject, "told": told.telling.value, "reason": told.reason}
    if not told.telling.troubled:
        logger.info("incident", extra=fields)
        return
    metrics.add_metric("NotTold", MetricUnit.Count, 1)
    if not told.said_before:
        logger.warning("nobody could be told", extra=fields)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    return process_partial_response(event, look, processor, context)
