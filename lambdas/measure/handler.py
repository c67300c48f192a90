"""Publishes the measurements of the stage, every minute."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap.health import measurer as measurer_for
from switchyard.contracts.metrics import UNITS, Numbers, numbers_of, spent
from switchyard.observability import get_logger, get_metrics, get_tracer
from switchyard.settings import MeasureSettings
from switchyard.usecases.measuring.measure import Measurer

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()


@cache
def measurer() -> Measurer:
    return measurer_for(MeasureSettings())


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(_event: dict[str, Any], _context: LambdaContext) -> None:
    for name, value in numbers_of(measurer().levels()).items():
        metrics.add_metric(name, UNITS[name], value)
    for pool, levels in measurer().by_pool().items():
        publish(numbers_of(levels), pool=pool)
    for minute_ms, flow in measurer().unpublished():
        publish(numbers_of(flow), at_ms=minute_ms)
        for definition, spending in flow.by_definition.items():
            publish(spent(spending), at_ms=minute_ms, definition=definition)


def publish(numbers: Numbers, *, at_ms: int | None = None, **dimensions: str) -> None:
    """Publish numbers of a minute that is over, or those of one pool as they are now."""
    then = get_metrics()
    for name, whose in dimensions.items():
        then.add_dimension(name, whose)
    if at_ms is not None:
        then.set_timestamp(at_ms)
    for name, value in numbers.items():
        then.add_metric(name, UNITS[name], value)
    then.flush_metrics()
