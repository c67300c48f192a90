"""Ends the signals that wait for events which other programs put on the bus."""

from functools import cache
from typing import Any

from switchyard.bootstrap.job_requests import signal_matcher
from switchyard.contracts.signals import SIGNALLED
from switchyard.contracts.sqs_records import SqsRecord
from switchyard.settings import SignalSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.signals.match_event import Matched, SignalMatcher

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def matcher() -> SignalMatcher:
    return signal_matcher(SignalSettings())


@tracer.capture_method(capture_response=False)
def match_one(record: SQSRecord) -> None:
    report(matcher().match(SqsRecord.model_validate(record.raw_event).delivered))


def report(matched: Matched) -> None:
    about = {"tenant_id": matched.tenant, "event_id": matched.event_id}
    for one in matched.ended:
        logger.info("signal sent by event", extra=about, request_id=one.ref.request_id)
    for one, reason in matched.refused:
        logger.warning("signal refused", extra=about, request_id=one.ref.request_id, reason=reason)
    metrics.add_metric(SIGNALLED, MetricUnit.Count, len(matched.ended))


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, match_one)
