"""Sends wake-ups, every minute, for whatever is overdue."""

from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard import bootstrap
from switchyard.bootstrap import Sweepers
from switchyard.bootstrap.alerts import due_alerts
from switchyard.domain.ids import TaskRef
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import SweeperSettings
from switchyard.usecases.alerts.report_incidents import DueAlerts
from switchyard.usecases.dispatching.sweep import Nudge

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()


@cache
def settings() -> SweeperSettings:
    return SweeperSettings()


@cache
def sweepers() -> Sweepers:
    return bootstrap.sweepers(settings())


@cache
def alerts() -> DueAlerts:
    return due_alerts(settings())


@logger.inject_lambda_context
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(_event: dict[str, Any], _context: LambdaContext) -> None:
    limits = settings()
    metrics.add_metric("Sweeps", MetricUnit.Count, 1)
    overdue = sweepers().overdue
    for nudge in overdue.sweep(at_most=limits.sweep_at_most, seconds=limits.sweep_seconds):
        logger.info("overdue", extra=fields_of(nudge))
        metrics.add_metric("Overdue", MetricUnit.Count, 1)
    for group in sweepers().groups.sweep():
        logger.info("group is swept", extra=asdict(group))
    for subject in alerts().send_due():
        logger.info("alert is due", extra={"subject": subject})


def fields_of(nudge: Nudge) -> dict[str, str | None]:
    task = nudge.ref.request_id if isinstance(nudge.ref, TaskRef) else None
    return {
        "tenant_id": nudge.ref.tenant,
        "job_id": nudge.ref.job_id,
        "request_id": task,
        "action": nudge.action.value,
        "reason": nudge.reason,
        "error": nudge.error,
    }
