"""Woken by every settled task and every new job: moves the job on."""

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
from switchyard.contracts.bus import BusMessage, settled_task
from switchyard.observability import Metrics, MetricUnit, Tracer, get_logger
from switchyard.settings import DispatcherSettings
from switchyard.usecases.dispatch_task import Dispatcher

logger = get_logger()
metrics = Metrics()
tracer = Tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def dispatcher() -> Dispatcher:
    return bootstrap.dispatcher(DispatcherSettings())


@tracer.capture_method(capture_response=False)
def dispatch_one(record: SQSRecord) -> None:
    logger.set_correlation_id(record.message_id)
    event = BusMessage.model_validate_json(record.body).detail
    task = settled_task(event)
    dispatcher().dispatch(task)
    logger.info("dispatched", request_id=task.request_id, event_type=event.event_type)
    metrics.add_metric("Dispatched", MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    return process_partial_response(event, dispatch_one, processor, context)
