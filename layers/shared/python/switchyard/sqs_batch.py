"""Handles SQS events: each record on its own, so that only what failed is delivered again."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.contracts.metrics import RECEIVED
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer

__all__ = ["LambdaContext", "MetricUnit", "PartialItemFailureResponse", "SQSRecord", "SqsBatch"]

SqsHandler = Callable[[dict[str, Any], LambdaContext], PartialItemFailureResponse]


class SqsBatch:
    """Provides what every function behind an SQS queue needs: logs, metrics, traces, records."""

    def __init__(self) -> None:
        self.logger = get_logger()
        self.metrics = get_metrics()
        self.tracer = get_tracer()
        self._processor = BatchProcessor(
            event_type=EventType.SQS, raise_on_entire_batch_failure=False
        )

    def handler(self, handle: SqsHandler) -> SqsHandler:
        """Decorate the function that Lambda calls; the records it is called with are counted."""

        @self.logger.inject_lambda_context
        @self.tracer.capture_lambda_handler(capture_response=False)
        @self.metrics.log_metrics(capture_cold_start_metric=True)
        @wraps(handle)
        def counted(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
            self.metrics.add_metric(RECEIVED, MetricUnit.Count, len(event["Records"]))
            return handle(event, context)

        decorated: SqsHandler = counted
        return decorated

    def process(
        self, event: dict[str, Any], context: LambdaContext, handle_one: Callable[..., None]
    ) -> PartialItemFailureResponse:
        """Call `handle_one` for each record, with its message id as the correlation id of the logs.

        A record for which it raises is delivered again. If it has a parameter `lambda_context`,
        it gets `context`.
        """

        @wraps(handle_one)
        def correlated(record: SQSRecord, **given: LambdaContext) -> None:
            self.logger.set_correlation_id(record.message_id)
            handle_one(record, **given)

        return process_partial_response(event, correlated, self._processor, context)
