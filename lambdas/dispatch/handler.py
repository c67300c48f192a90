"""Moves jobs on: handles settled tasks, new jobs and work that was left over."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from switchyard import bootstrap
from switchyard.domain.tasks.task import TaskRun
from switchyard.settings import DispatcherSettings
from switchyard.sqs_batch import (
    LambdaContext,
    MetricUnit,
    PartialItemFailureResponse,
    SqsBatch,
    SQSRecord,
)
from switchyard.usecases.dispatching.dispatch_batch import Answer, BatchDispatcher

batch = SqsBatch()
logger, metrics, tracer = batch.logger, batch.metrics, batch.tracer


@cache
def dispatcher() -> BatchDispatcher:
    return bootstrap.dispatcher(DispatcherSettings())


@tracer.capture_method(capture_response=False)
def dispatch(records: list[dict[str, Any]]) -> Mapping[str, Answer]:
    return dispatcher().handle({record["messageId"]: record["body"] for record in records})


def report(answers: Mapping[str, Answer], record: SQSRecord) -> None:
    """Log the answer to one message; raise its error, so that the message comes back."""
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


@batch.handler
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    answers = dispatch(event["Records"])
    return batch.process(event, context, partial(report, answers))
