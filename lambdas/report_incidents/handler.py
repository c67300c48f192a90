"""Checks the subjects that messages of the alerts queue name, and reports their incidents.

Deployed as `notify`: that name is older than the folder (`contracts/function_names.py`).
"""

from functools import cache
from typing import Any

from switchyard.bootstrap.alerts import incident_reporter
from switchyard.contracts.alerting import subject_to_check
from switchyard.domain.alerts.alerts import PublishResult
from switchyard.domain.alerts.subjects import Subject
from switchyard.domain.errors import Unavailable
from switchyard.settings import ReportIncidentsSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.alerts.report_incidents import IncidentReporter

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer
ENOUGH_MS = 12_000  # what one subject may take: a slow webhook takes ten seconds


@cache
def reporter() -> IncidentReporter:
    return incident_reporter(ReportIncidentsSettings())


@tracer.capture_method(capture_response=False)
def report(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """Report one subject; an error returns its message to the queue, and no other."""
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


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, report)
