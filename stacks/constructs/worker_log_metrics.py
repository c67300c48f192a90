"""Metrics and alarms that are counted from lines of the workers' log."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.stage import Stage
from switchyard.contracts import metrics
from switchyard.contracts.metrics import NAMESPACE
from switchyard.contracts.parked_messages import LEFT_TO_NEWER_LOG, PARKED_LOG, POISON_METRIC
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
    """Counts log messages by filters: a worker has no invocation that would publish metrics."""

    def __init__(self, scope: Construct, construct_id: str, *, log_group: logs.ILogGroup) -> None:
        super().__init__(scope, construct_id)
        for name, messages in COUNTED.items():
            for number, message in enumerate(messages):
                logs.MetricFilter(
                    self,
                    f"{name}{number or ''}",
                    log_group=log_group,
                    filter_pattern=logs.FilterPattern.string_value("$.message", "=", message),
                    metric_namespace=NAMESPACE,
                    metric_name=name,
                    dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
                )


METRIC = f"{POISON_METRIC}ByWorker"


class ParkedByWorkers(Construct):
    """Counts lines of the log: a worker has no invocation at whose end metrics are written.

    A metric filter takes its dimensions from the log's lines, so that each line names its stage.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, log_group: logs.ILogGroup
    ) -> None:
        super().__init__(scope, construct_id)
        logs.MetricFilter(
            self,
            "Parked",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", PARKED_LOG),
            metric_namespace=NAMESPACE,
            metric_name=METRIC,
            dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
        )
        logs.MetricFilter(
            self,
            "LeftToNewer",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", LEFT_TO_NEWER_LOG),
            metric_namespace=NAMESPACE,
            metric_name="LeftToNewerByWorker",
            dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
        )
        raise_alarm(
            self,
            "MessageQuarantined",
            cloudwatch.Metric(
                namespace=NAMESPACE,
                metric_name=METRIC,
                dimensions_map={metrics.STAGE: stage.name},
                statistic="Sum",
                period=Duration.minutes(1),
            ),
            stage=stage,
            meaning="A worker received a message that can never be handled, and parked it. "
            "Look with `switchyard dlq`.",
            reported=False,
        )
