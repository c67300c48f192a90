"""Counts what the workers put aside, and raises an alarm."""

from aws_cdk import Duration
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.environment import METRICS_NAMESPACE
from stacks.stage import Stage
from switchyard.contracts.quarantine import PUT_ASIDE, QUARANTINED


class QuarantineWatch(Construct):
    """From their log: a worker has no invocation at whose end metrics would be written."""

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, log_group: logs.ILogGroup
    ) -> None:
        super().__init__(scope, construct_id)
        counted = logs.MetricFilter(
            self,
            "PutAside",
            log_group=log_group,
            filter_pattern=logs.FilterPattern.string_value("$.message", "=", PUT_ASIDE),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=f"{QUARANTINED}ByWorker",
        )
        raise_alarm(
            self,
            "MessageQuarantined",
            counted.metric(statistic="Sum", period=Duration.minutes(1)),
            stage=stage,
            meaning="A worker met a message that can never be handled, and put it aside. "
            "Look with `switchyard dlq`.",
            told=False,
        )
