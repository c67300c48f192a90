"""Checks the subjects that messages of the alerts queue name, and reports their incidents."""

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

from switchyard.bootstrap.incidents import incident_reporter
from switchyard.contracts.alerting import subject_to_check
from switchyard.domain.alerts.alerts import PublishResult
from switchyard.domain.alerts.subjects import Subject
from switchyard.domain.errors import Unavailable
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import ReportIncidentsSettings
from switchyard.usecases.alerts.report_incidents import IncidentReporter

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
ENOUGH_MS = 12_000  # what one subject may take: a slow webhook takes ten seconds


@cache
def reporter() -> IncidentReporter:
    return incident_reporter(ReportIncidentsSettings())


@tracer.capture_method(capture_response=False)
def report(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """Report one subject; an error returns its message to the queue, and no other."""
    logger.set_correlation_id(record.message_id)
    if lambda_context.get_remaining_time_in_millis() < ENOUGH_MS:
        raise Unavailable("there is no time left for this subject")
    subject = subject_to_check(record.body)
    result = reporter().report(
        subject,
        sent_at_ms=int(record.attributes.sent_timestamp),
        batch=lambda_context.aws_request_id,
    )
    if result:
        log(subject, result)


def log(subject: Subject, result: PublishResult) -> None:
    fields = {"subject": str(subject), "status": result.status.value, "reason": result.reason}
    if not result.status.failed:
        logger.info("incident was reported", extra=fields)
        return
    metrics.add_metric("NotTold", MetricUnit.Count, 1)
    if not result.repeated:
        logger.warning("alert could not be posted", extra=fields)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    return process_partial_response(event, report, processor, context)
