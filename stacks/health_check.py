"""Watches: a message that nobody could handle raises an alarm."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.infrastructure import InfrastructureStack


class HealthCheckStack(Stack):
    def __init__(self, scope: Construct, construct_id: str, *, shared: InfrastructureStack) -> None:
        super().__init__(scope, construct_id)
        self._alarm_on(shared.tasks.dead_letters, "TaskReceivedInVain")
        self._alarm_on(shared.dispatches.dead_letters, "TaskNotDispatched")
        self._alarm_on(shared.saves.dead_letters, "EventNotSaved")
        self._alarm_on(shared.undeliverable, "EventNotDelivered")

    def _alarm_on(self, dead_letters: sqs.Queue, alarm: str) -> None:
        depth = dead_letters.metric_approximate_number_of_messages_visible(
            period=Duration.minutes(1), statistic="Maximum"
        )
        depth.create_alarm(
            self,
            alarm,
            threshold=0,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
