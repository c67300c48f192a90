"""Counts what the workers put aside, and raises an alarm."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.environment import METRICS_NAMESPACE
from stacks.stage import Stage
from switchyard.contracts import metrics
from switchyard.contracts.quarantine import LEFT_TO_NEWER, PUT_ASIDE, QUARANTINED

METRIC = f"{QUARANTINED}ByWorker"


class QuarantineWatch(Construct):
    """From their log: a worker has no invocation at whose end metrics would be written.

    A metric filter takes its dimensions from the log's lines, so that each line names its stage.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, log_group: logs.ILogGroup
    ) -> None:
        super().__init__(scope, construct_id)
        logs.MetricFilter(
            self,
            "PutAside",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", PUT_ASIDE),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=METRIC,
            dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
        )
        logs.MetricFilter(
            self,
            "LeftToNewer",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", LEFT_TO_NEWER),
            metric_namespace=METRICS_NAMESPACE,
            metric_name="LeftToNewerByWorker",
            dimensions={metrics.STAGE: f"$.{metrics.STAGE}"},
        )
        raise_alarm(
            self,
            "MessageQuarantined",
            cloudwatch.Metric(
                namespace=METRICS_NAMESPACE,
                metric_name=METRIC,
                dimensions_map={metrics.STAGE: stage.name},
                statistic="Sum",
                period=Duration.minutes(1),
            ),
            stage=stage,
            meaning="A worker met a message that can never be handled, and put it aside. "
            "Look with `switchyard dlq`.",
            told=False,
        )
