"""Stores every event of the bus in the events table, counts it, and exports the span it ended."""

from functools import cache, partial
from typing import Any

from switchyard.bootstrap import SaveEventPorts, save_event_ports
from switchyard.contracts.events.envelope import BusMessage
from switchyard.settings import SaveEventSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.events.save_event import save_event
from switchyard.usecases.measuring.count_events import Tally
from switchyard.usecases.measuring.export_spans import Spans

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def ports() -> SaveEventPorts:
    return save_event_ports(SaveEventSettings())


@tracer.capture_method(capture_response=False)
def save_one(tally: Tally, spans: Spans, record: SQSRecord) -> None:
    event = BusMessage.model_validate_json(record.body).detail
    keeper = ports()
    if save_event(event, log=keeper.log, clock=keeper.clock, retention=keeper.retention):
        tally.note(event)
        spans.note(event)
    metrics.add_metric("EventsSaved", MetricUnit.Count, 1)


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    tally, spans = Tally(), Spans(ports().exporter)
    answer = batch.process(event, context, partial(save_one, tally, spans))
    problem = tally.add_to(ports().counters)
    if problem:
        logger.warning("events are not counted", extra={"error": problem})
    unseen = spans.export()
    if unseen:
        logger.warning("spans are not exported", extra={"error": unseen})
    return answer
