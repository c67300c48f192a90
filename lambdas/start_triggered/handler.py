"""Called with the events that triggers wait for: starts a job for each."""

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

from switchyard.bootstrap.triggered import trigger_starter
from switchyard.contracts.triggers import FIRED, REFUSED
from switchyard.contracts.undeliverable import DeadLetter
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import TriggerSettings
from switchyard.usecases.triggers.start_triggered import Dropped, PutAside, Started, TriggerStarter

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def starter() -> TriggerStarter:
    return trigger_starter(TriggerSettings())


@tracer.capture_method(capture_response=False)
def start_one(record: SQSRecord) -> None:
    logger.set_correlation_id(record.message_id)
    tell(starter().start(DeadLetter.model_validate(record.raw_event).delivered))


def tell(done: Started | Dropped | PutAside) -> None:
    match done:
        case Started():
            about = {"tenant_id": done.tenant, "trigger": done.trigger, "event_id": done.event_id}
            logger.info("trigger fired", extra=about, job_id=done.job_id)
            metrics.add_metric(FIRED, MetricUnit.Count, 1)
        case Dropped():
            about = {"tenant_id": done.tenant, "trigger": done.trigger, "event_id": done.event_id}
            logger.info("event is dropped", extra=about, reason=done.reason)
        case PutAside():
            logger.error("trigger refused", trigger=done.trigger, key=done.key, reason=done.reason)
            metrics.add_metric(REFUSED, MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    return process_partial_response(event, start_one, processor, context)
