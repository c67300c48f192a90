"""Logs, metrics and traces: one way to get them, in functions and in the worker alike.

A function's service name and namespace come from its environment, which the stacks fill.
"""

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

__all__ = ["EphemeralMetrics", "Logger", "MetricUnit", "Metrics", "get_logger", "get_tracer"]


def get_logger(service: str | None = None) -> Logger:
    """One JSON line per fact; what a user wrote stays inside its string."""
    return Logger(service=service, use_rfc3339=True, utc=True)


def get_tracer() -> Tracer:
    """Of calls to AWS: to follow every library there is, all of them would be imported."""
    return Tracer(patch_modules=("botocore",))
