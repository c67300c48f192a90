"""The stack that finds overdue items, parks dead letters, measures the stage and posts alerts."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import raise_alarm, raise_if_not_invoked
from stacks.constructs.dashboards import StageDashboard
from stacks.constructs.dead_letters import archive_dead_letters, process_dead_letters
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.measuring import Measuring
from stacks.constructs.notifications import Notifications, allow_requesting_checks
from stacks.constructs.permissions import (
    allow,
    allow_closing_jobs,
    keep_from_tenant_settings,
)
from stacks.constructs.signals import allow_subscribing
from stacks.constructs.stage_alarms import watch_stage
from stacks.constructs.task_checks import TaskChecks
from stacks.environment import environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import DUE_INDEX, READY_INDEX
from switchyard.settings import SweeperSettings

SWEEP_EVERY = Duration.minutes(1)


class HealthCheckStack(Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        shared: InfrastructureStack,
        not_triggered: sqs.Queue,
    ) -> None:
        """Create the stack; `not_triggered` holds events that failed to start a job three times."""
        super().__init__(scope, construct_id)
        layers = FunctionLayers(self, "Layers", stage=stage)
        notifications = Notifications(
            self, "Notifications", stage=stage, shared=shared, layers=layers
        )
        self._sweep(stage, shared, layers, notifications.alerts.queue)
        TaskChecks(self, "TaskChecks", stage=stage, shared=shared, layers=layers)
        process_dead_letters(self, stage=stage, shared=shared, layers=layers)
        archived = _archived_queues(shared, not_triggered)
        archive_dead_letters(self, stage=stage, shared=shared, layers=layers, queues=archived)
        measuring = Measuring(
            self,
            "Measuring",
            stage=stage,
            shared=shared,
            layers=layers,
            dead_letters=[
                *(one.dead_letters for one in shared.pool_queues.values()),
                notifications.alerts.dead_letters,
                *archived.values(),
            ],
        )
        watch_stage(self, stage=stage, measure=measuring.function)
        if stage.watches_workers:
            StageDashboard(self, "StageDashboard", stage=stage)

    def _sweep(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers, alerts: sqs.Queue
    ) -> None:
        sweep = HouseFunction(
            self,
            "Sweep",
            stage=stage,
            folder="sweep",
            layers=layers,
            environment=environment_for(
                SweeperSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                job_queue_url=shared.job_steps.queue.queue_url,
                alerts_queue_url=alerts.queue_url,
                pools=pools_as_json(shared.pools),
                s3_bucket=shared.artifacts.bucket.bucket_name,
            ),
        )
        _grant_sweep(sweep.role, shared)
        allow_requesting_checks(sweep.role, alerts)
        self._schedule_sweep(stage, sweep.function)

    def _schedule_sweep(self, stage: Stage, sweep: lambda_.Function) -> None:
        rule = events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(SWEEP_EVERY),
            targets=[targets.LambdaFunction(sweep)],
        )
        raise_if_not_invoked(
            self,
            "SweepNotInvoked",
            sweep,
            stage=stage,
            every=SWEEP_EVERY,
            schedule=rule,
            meaning="The function sweep has not been invoked for five minutes: tasks that lost "
            "their worker or their message wait until it is.",
        )
        raise_alarm(
            self,
            "StageNotSwept",
            sweep.metric_errors(period=SWEEP_EVERY),
            stage=stage,
            meaning="Overdue tasks and jobs have not been looked at for five minutes: the function "
            "sweep fails. Lost messages and events stay lost until it works again. Its log is "
            f"/aws/lambda/{stage.prefixed('sweep')}.",
            minutes=5,
        )


def _archived_queues(shared: InfrastructureStack, not_triggered: sqs.Queue) -> dict[str, sqs.Queue]:
    """Name the dead-letter queues that are archived by what their messages mean."""
    return {
        "TaskNotDispatched": shared.dispatches.dead_letters,
        "JobNotAdvanced": shared.job_steps.dead_letters,
        "EventNotSaved": shared.saves.dead_letters,
        "SignalNotMatched": shared.signals.dead_letters,
        "EventNotDelivered": shared.undeliverable,
        "JobNotTriggered": not_triggered,
    }


def _grant_sweep(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:UpdateItem", on=[state])
    keep_from_tenant_settings(role, state_table=state)
    allow_closing_jobs(role, state_table=state)
    allow_subscribing(role, state_table=state)
    indexes = [f"{state}/index/{name}" for name in (DUE_INDEX, READY_INDEX)]
    allow(role, "dynamodb:Query", on=[state, *indexes])
    allow(role, "dynamodb:ConditionCheckItem", on=[state])
    shared.artifacts.allow_task_files(role, "s3:GetObject")
    shared.artifacts.allow_event_payloads(role)
    queues = (*shared.pool_queues.values(), shared.dispatches, shared.job_steps)
    allow(role, "sqs:SendMessage", on=[one.queue.queue_arn for one in queues])
    allow(role, "sqs:GetQueueAttributes", on=[shared.tasks.queue.queue_arn])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
