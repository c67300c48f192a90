"""Keeps every event of the bus in the events table, counts it, and shows the span it ended."""

from functools import cache, partial
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap import SaveEventPorts, save_event_ports
from switchyard.contracts.bus import BusMessage
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import SaveEventSettings
from switchyard.usecases.events.save_event import save_event
from switchyard.usecases.measuring.count_events import Tally
from switchyard.usecases.measuring.export_spans import Spans

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def ports() -> SaveEventPorts:
    return save_event_ports(SaveEventSettings())


@tracer.capture_method(capture_response=False)
def save_one(tally: Tally, spans: Spans, record: SQSRecord) -> None:
    logger.set_correlation_id(record.message_id)
    event = BusMessage.model_validate_json(record.body).detail
    keeper = ports()
    if save_event(event, log=keeper.log, clock=keeper.clock, retention=keeper.retention):
        tally.note(event)
        spans.note(event)
    metrics.add_metric("EventsSaved", MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    tally, spans = Tally(), Spans(ports().exporter)
    answer = process_partial_response(event, partial(save_one, tally, spans), processor, context)
    problem = tally.add_to(ports().counters)
    if problem:
        logger.warning("events are not counted", extra={"error": problem})
    unseen = spans.export()
    if unseen:
        logger.warning("spans are not exported", extra={"error": unseen})
    return answer
