"""Logs, metrics and traces: one way to get them, in functions and in the worker alike.

A deployable's service name, namespace and stage come from its environment, which the stacks fill.
"""

import os
from typing import Any, Final

from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit, single_metric

__all__ = ["Logger", "MetricUnit", "StageMetrics", "get_logger", "get_metrics", "get_tracer"]

_STAGE: Final = "STAGE"
_NO_STAGE: Final = "unknown"  # where nothing is deployed, as when the API is only described


class StageMetrics(EphemeralMetrics):
    """Metrics with the dimensions `service` and `stage`: stages may share an account."""

    def __init__(self) -> None:
        super().__init__(default_dimensions={"stage": os.environ.get(_STAGE, _NO_STAGE)})

    def add_cold_start_metric(self, context: Any) -> None:
        """Publish a start; Powertools would leave the stage out."""
        with single_metric(
            name="ColdStart",
            unit=MetricUnit.Count,
            value=1,
            namespace=self.namespace,
            default_dimensions=self.default_dimensions,
        ) as started:
            started.add_dimension(name="function_name", value=context.function_name)
            started.add_dimension(name="service", value=str(self.service))


def get_metrics() -> StageMetrics:
    return StageMetrics()


def get_logger(service: str | None = None) -> Logger:
    """Return a logger of one JSON line per fact; a user's text stays inside its string."""
    return Logger(service=service, use_rfc3339=True, utc=True, stage=os.environ.get(_STAGE))


def get_tracer() -> Tracer:
    """Return a tracer of calls to AWS; tracing every library would import them all."""
    return Tracer(patch_modules=("botocore",))
