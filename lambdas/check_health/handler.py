"""Checks the health of all running tasks every five minutes, or of one task on request."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap.health import health_watch
from switchyard.contracts.events import HealthSummary
from switchyard.contracts.health import NOT_FOUND, HealthQuestion, TaskHealth
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import CheckSettings
from switchyard.usecases.health.watch_health import HealthWatch

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()


@cache
def watch() -> HealthWatch:
    return health_watch(CheckSettings())


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    question = HealthQuestion.asked_in(event)
    metrics.add_metric("HealthQuestions" if question else "HealthChecks", MetricUnit.Count, 1)
    return health_of(question) if question else health_of_all()


def health_of(question: HealthQuestion) -> dict[str, Any]:
    checked = watch().checker.check_one(question.ref) if question.ref else None
    return TaskHealth.of(checked).model_dump(by_alias=True) if checked else NOT_FOUND


def health_of_all() -> dict[str, Any]:
    report, result = watch().run()
    summary = HealthSummary.of(report).model_dump(by_alias=True)
    fields = {"summary": summary, "status": result.status.value, "reason": result.reason}
    if result.status.failed:
        logger.warning("tasks are checked, but the alert could not be posted", extra=fields)
    else:
        logger.info("tasks are checked", extra=fields)
    return summary
