"""Counts what the workers put aside, and raises an alarm."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.environment import METRICS_NAMESPACE
from switchyard.contracts.quarantine import PUT_ASIDE, QUARANTINED


class QuarantineWatch(Construct):
    """From their log: a worker has no invocation at whose end metrics would be written."""

    def __init__(self, scope: Construct, construct_id: str, *, log_group: logs.ILogGroup) -> None:
        super().__init__(scope, construct_id)
        counted = logs.MetricFilter(
            self,
            "PutAside",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", PUT_ASIDE),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=f"{QUARANTINED}ByWorker",
        )
        counted.metric(statistic="Sum", period=Duration.minutes(1)).create_alarm(
            self,
            "MessageQuarantined",
            threshold=0,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
