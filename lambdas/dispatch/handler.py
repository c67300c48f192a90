"""Woken by settled tasks, new jobs and whatever was left over: moves jobs on."""

from collections.abc import Mapping
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

from switchyard import bootstrap
from switchyard.domain.tasks.task import TaskRun
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import DispatcherSettings
from switchyard.usecases.dispatching.dispatch_batch import Answer, BatchDispatcher

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@cache
def dispatcher() -> BatchDispatcher:
    return bootstrap.dispatcher(DispatcherSettings())


@tracer.capture_method(capture_response=False)
def dispatch(records: list[dict[str, Any]]) -> Mapping[str, Answer]:
    return dispatcher().handle({record["messageId"]: record["body"] for record in records})


def report(answers: Mapping[str, Answer], record: SQSRecord) -> None:
    """What is raised here brings its message back."""
    logger.set_correlation_id(record.message_id)
    answer = answers[record.message_id]
    if isinstance(answer, Exception):
        logger.warning("not dispatched", error=str(answer))
        raise answer
    task = answer.ref.ref.request_id if isinstance(answer.ref, TaskRun) else None
    logger.info(
        "dispatched",
        job_id=answer.job.job_id,
        request_id=task,
        trace_id=answer.trace_id,
        by_event=answer.by_event,
    )
    metrics.add_metric("Dispatched", MetricUnit.Count, 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    metrics.add_metric("Received", MetricUnit.Count, len(event["Records"]))
    answers = dispatch(event["Records"])
    return process_partial_response(event, partial(report, answers), processor, context)
