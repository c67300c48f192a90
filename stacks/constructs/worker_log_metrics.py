"""Counts from the workers' log what they could not do as they should."""

from typing import Final

from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.environment import METRICS_NAMESPACE
from switchyard.contracts import metrics
from switchyard.contracts.worker_log import (
    BUG,
    FILES_LEFT,
    PROCESSES_LEFT,
    USERS_PROCESSES_LEFT,
)

COUNTED: Final = {
    "BugsInWorker": (BUG,),
    "ProcessesLeftByTasks": (PROCESSES_LEFT, USERS_PROCESSES_LEFT),
    "FilesLeftByTasks": (FILES_LEFT,),
}
"""Names of metrics, and the messages of the lines that each counts."""


class WorkerLogMetrics(Construct):
    """One filter for each message, since a worker has no invocation that would publish metrics."""

    def __init__(self, scope: Construct, construct_id: str, *, log_group: logs.ILogGroup) -> None:
        super().__init__(scope, construct_id)
        for name, messages in COUNTED.items():
            for number, message in enumerate(messages):
                logs.MetricFilter(
                    self,
                    f"{name}{number or ''}",
                    log_group=log_group,
                    filter_pattern=logs.FilterPattern.string_value("$.message", "=", message),
                    metric_namespace=METRICS_NAMESPACE,
                    metric_name=name,
                    dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
                )
