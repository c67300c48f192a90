"""Starts a job for each event that a trigger waits for."""

from functools import cache
from typing import Any

from switchyard.bootstrap.job_requests import trigger_starter
from switchyard.contracts.sqs_records import SqsRecord
from switchyard.contracts.triggers import FIRED, REFUSED
from switchyard.settings import TriggerSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.triggers.start_triggered import Dropped, Parked, Started, TriggerStarter

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def starter() -> TriggerStarter:
    return trigger_starter(TriggerSettings())


@tracer.capture_method(capture_response=False)
def start_one(record: SQSRecord) -> None:
    report(starter().start(SqsRecord.model_validate(record.raw_event).delivered))


def report(done: Started | Dropped | Parked) -> None:
    match done:
        case Started():
            about = {"tenant_id": done.tenant, "trigger": done.trigger, "event_id": done.event_id}
            logger.info("trigger fired", extra=about, job_id=done.job_id)
            metrics.add_metric(FIRED, MetricUnit.Count, 1)
        case Dropped():
            about = {"tenant_id": done.tenant, "trigger": done.trigger, "event_id": done.event_id}
            logger.info("event is dropped", extra=about, reason=done.reason)
        case Parked():
            logger.error("trigger refused", trigger=done.trigger, key=done.key, reason=done.reason)
            metrics.add_metric(REFUSED, MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return batch.process(event, context, start_one)
