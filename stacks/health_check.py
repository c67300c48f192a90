"""Watches: nudges on what is overdue; a message that nobody could handle raises an alarm."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import DUE_INDEX
from switchyard.settings import SweeperSettings

SWEEP_EVERY = Duration.minutes(1)


class HealthCheckStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        self._sweep(stage, shared)
        self._alarm_on(shared.tasks.dead_letters, "TaskReceivedInVain")
        self._alarm_on(shared.dispatches.dead_letters, "TaskNotDispatched")
        self._alarm_on(shared.saves.dead_letters, "EventNotSaved")
        self._alarm_on(shared.undeliverable, "EventNotDelivered")

    def _sweep(self, stage: Stage, shared: InfrastructureStack) -> None:
        sweep = HouseFunction(
            self,
            "Sweep",
            stage=stage,
            verb="sweep",
            layers=FunctionLayers(self, "Layers", stage=stage),
            environment=environment_for(
                SweeperSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                s3_bucket=shared.artifacts.bucket.bucket_name,
            ),
        )
        _grant(sweep.role, shared)
        events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(SWEEP_EVERY),
            targets=[targets.LambdaFunction(sweep.function)],
        )

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


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:UpdateItem", on=[state])
    allow(role, "dynamodb:Query", on=[state, f"{state}/index/{DUE_INDEX}"])
    shared.artifacts.allow_task_files(role, "s3:GetObject")
    shared.artifacts.allow_event_payloads(role)
    allow(role, "sqs:SendMessage", on=[shared.tasks.queue.queue_arn])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
