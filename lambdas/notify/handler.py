"""Called when something may have gone wrong, or be over: looks at it, and tells people."""

from functools import cache
from typing import Any

from switchyard.bootstrap.watching import lookout as lookout_for
from switchyard.contracts.alerting import woken_subject
from switchyard.domain.errors import Unavailable
from switchyard.settings import NotifySettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.alerts.lookout import Lookout
from switchyard.usecases.alerts.tell_alone import Told

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer
ENOUGH_MS = 12_000  # for one subject: a slow webhook takes ten seconds


@cache
def lookout() -> Lookout:
    return lookout_for(NotifySettings())


@tracer.capture_method(capture_response=False)
def look(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """What is raised here brings its message back, and no other."""
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


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, look)
