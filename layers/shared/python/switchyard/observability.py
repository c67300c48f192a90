"""Logs, metrics and traces: one way to get them, in functions and in the worker alike."""

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit

NAMESPACE = "Switchyard"

__all__ = ["Logger", "MetricUnit", "Metrics", "Tracer", "get_logger", "get_metrics", "get_tracer"]


def get_logger(service: str) -> Logger:
    """One JSON line per fact; what a user wrote stays inside its string."""
    return Logger(service=service, use_rfc3339=True, utc=True)


def get_metrics(service: str) -> Metrics:
    return Metrics(namespace=NAMESPACE, service=service)


def get_tracer(service: str) -> Tracer:
    return Tracer(service=service)
