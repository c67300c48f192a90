"""Watches: nudges on what is overdue, keeps what nobody could handle, and raises alarms."""

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
from stacks.environment import environment_for, powertools_environment
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.quarantine import QUARANTINED, RECEIVED
from switchyard.contracts.tables import DUE_INDEX
from switchyard.contracts.undeliverable import QUEUE, UNDELIVERABLE
from switchyard.settings import AlertSettings, DeadLetterSettings, SweeperSettings

SWEEP_EVERY = Duration.minutes(1)
DRAINED_WITHIN_MINUTES = 5


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
        """`not_triggered` holds the events that started no job, three times."""
        super().__init__(scope, construct_id)
        layers = FunctionLayers(self, "Layers", stage=stage)
        self._sweep(stage, shared, layers)
        self._process_dead_letters(stage, shared, layers)
        alert = self._alert(stage, shared, layers)
        undeliverable = {
            "TaskNotDispatched": shared.dispatches.dead_letters,
            "EventNotSaved": shared.saves.dead_letters,
            "EventNotDelivered": shared.undeliverable,
            "JobNotTriggered": not_triggered,
        }
        for what, dead_letters in undeliverable.items():
            alert.consume(dead_letters, batch_size=10, name=f"{what}Messages")
            self._alarm(what, _kept_from(dead_letters, stage))
            self._watch_depth(what, dead_letters)

    def _sweep(self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers) -> None:
        sweep = HouseFunction(
            self,
            "Sweep",
            stage=stage,
            verb="sweep",
            layers=layers,
            environment=environment_for(
                SweeperSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                s3_bucket=shared.artifacts.bucket.bucket_name,
            ),
        )
        _grant_sweep(sweep.role, shared)
        events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(SWEEP_EVERY),
            targets=[targets.LambdaFunction(sweep.function)],
        )

    def _alert(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
    ) -> HouseFunction:
        alert = HouseFunction(
            self,
            "Alert",
            stage=stage,
            verb="alert",
            layers=layers,
            environment=environment_for(
                AlertSettings,
                stage=stage.name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
            ),
        )
        shared.artifacts.allow_keeping_undeliverable(alert.role)
        return alert

    def _process_dead_letters(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
    ) -> None:
        processor = HouseFunction(
            self,
            "ProcessDeadLetters",
            stage=stage,
            verb="process_dead_letters",
            layers=layers,
            environment=environment_for(
                DeadLetterSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                task_definitions_table=shared.task_definitions_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                tenant_id=stage.adopting_tenant,
            ),
        )
        _grant_dead_letters(processor.role, shared)
        processor.consume(shared.tasks.dead_letters, batch_size=10)
        counted = {"TaskReceivedInVain": RECEIVED, "DeadLetterQuarantined": QUARANTINED}
        for what, metric in counted.items():
            self._alarm(what, _counted(metric, stage, service="process-dead-letters"))
        self._watch_depth("TaskReceivedInVain", shared.tasks.dead_letters)

    def _watch_depth(self, what: str, dead_letters: sqs.Queue) -> None:
        """That a function drains the queue.

        While it fails, its messages are hidden and not visible; when it is not called, they are
        visible. Either count alone would miss one of the two.
        """
        self._alarm(f"{what}Unread", _visible(dead_letters), minutes=DRAINED_WITHIN_MINUTES)
        self._alarm(f"{what}Unkept", _hidden(dead_letters), minutes=DRAINED_WITHIN_MINUTES)

    def _alarm(self, name: str, metric: cloudwatch.Metric, *, minutes: int = 1) -> None:
        metric.create_alarm(
            self,
            name,
            threshold=0,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=minutes,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )


def _visible(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_visible(
        period=Duration.minutes(1), statistic="Maximum"
    )


def _hidden(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_not_visible(
        period=Duration.minutes(1), statistic="Maximum"
    )


def _kept_from(dead_letters: sqs.Queue, stage: Stage) -> cloudwatch.Metric:
    return _counted(UNDELIVERABLE, stage, service="alert", **{QUEUE: dead_letters.queue_name})


def _counted(name: str, stage: Stage, *, service: str, **dimensions: str) -> cloudwatch.Metric:
    powertools = powertools_environment(stage, service=service)
    return cloudwatch.Metric(
        namespace=powertools["POWERTOOLS_METRICS_NAMESPACE"],
        metric_name=name,
        dimensions_map={"service": powertools["POWERTOOLS_SERVICE_NAME"], **dimensions},
        period=Duration.minutes(1),
        statistic="Sum",
    )


def _grant_sweep(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:UpdateItem", on=[state])
    allow(role, "dynamodb:Query", on=[state, f"{state}/index/{DUE_INDEX}"])
    shared.artifacts.allow_task_files(role, "s3:GetObject")
    shared.artifacts.allow_event_payloads(role)
    queues = [shared.tasks.queue.queue_arn, shared.dispatches.queue.queue_arn]
    allow(role, "sqs:SendMessage", on=queues)
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])


def _grant_dead_letters(role: iam.IRole, shared: InfrastructureStack) -> None:
    state, definitions = shared.state_table.table_arn, shared.task_definitions_table.table_arn
    allow(role, "dynamodb:GetItem", "dynamodb:UpdateItem", on=[state])
    allow(role, "dynamodb:BatchGetItem", on=[definitions])
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_event_payloads(role)
    shared.artifacts.allow_quarantine(role)
    allow(role, "sqs:SendMessage", on=[shared.tasks.queue.queue_arn])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
