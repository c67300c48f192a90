"""Starts jobs for events and by schedules: the queue that triggers' rules send to, and its reader.

The rules themselves are not deployed: `switchyard triggers apply` puts them, on both buses, and so
does the API for tenants.
"""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import counted, raise_alarm
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import (
    acknowledge_wildcard,
    allow,
    allow_closing_jobs,
    allow_on_partitions,
    keep_from_tenant_settings,
)
from stacks.constructs.queue import HouseQueue
from stacks.environment import as_json, environment_for, groups_of
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import job_partition, open_jobs_partition, queues_partition
from switchyard.contracts.triggers import REFUSED
from switchyard.domain.triggers.triggers import rule_prefix
from switchyard.settings import TriggerSettings


class Triggers(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        shared: InfrastructureStack,
        layers: FunctionLayers,
    ) -> None:
        super().__init__(scope, construct_id)
        events = HouseQueue(
            self, "Events", stage=stage, name="trigger-queue", reader="start-triggered"
        )
        self.queue = events.queue
        self.dead_letters = events.dead_letters
        for queue in (events.queue, events.dead_letters):
            _accept_rules(queue, stage=stage, bus_name=shared.bus.event_bus_name)
        function = self._function(stage, shared, layers, events.queue)
        function.consume(events.queue, batch_size=10, at_once=stage.concurrency.start_triggered)
        _grant(function.role, shared)
        self._alarm(stage)
        self._alert_operators(events)

    def _function(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers, queue: sqs.Queue
    ) -> HouseFunction:
        return HouseFunction(
            self,
            "StartTriggered",
            stage=stage,
            folder="start_triggered",
            layers=layers,
            environment=environment_for(
                TriggerSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                task_definitions_table=shared.task_definitions_table.table_name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                job_queue_url=shared.job_steps.queue.queue_url,
                trigger_queue_url=queue.queue_url,
                ceilings=as_json(stage.ceilings),
                queue_groups=groups_of(stage),
                webhooks_may_reach_private=stage.webhooks_may_reach_private,
            ),
        )

    def _alarm(self, stage: Stage) -> None:
        raise_alarm(
            self,
            "TriggerRefused",
            counted(REFUSED, stage, service="start-triggered"),
            stage=stage,
            meaning="An event started no job, because its trigger's template is refused. It is "
            "parked: look with `switchyard dlq` and `switchyard triggers`.",
            reported=False,
        )

    def _alert_operators(self, events: HouseQueue) -> None:
        stack = Stack.of(self)
        CfnOutput(stack, "TriggerQueueArn", value=events.queue.queue_arn)
        CfnOutput(stack, "TriggerDeadLettersArn", value=events.dead_letters.queue_arn)


def allow_changing_triggers(role: iam.IRole, triggers: Triggers, *, stage: Stage) -> None:
    """Allow to put rules of this stage's names, with no other target than the trigger queue."""
    bus_name = f"switchyard-{stage.name}"
    rules = _rule_arns(triggers.queue, stage=stage, bus_name=bus_name)
    allow(
        role,
        "events:DeleteRule",
        "events:DescribeRule",
        "events:PutRule",
        "events:RemoveTargets",
        on=rules,
    )
    iam.Grant.add_to_principal(
        grantee=role,
        actions=["events:PutTargets"],
        resource_arns=rules,
        conditions={
            "ForAllValues:ArnEquals": {"events:TargetArn": triggers.queue.queue_arn},
            "Null": {"events:TargetArn": "false"},
        },
    )
    allow(role, "sqs:GetQueueUrl", "sqs:SendMessage", on=[triggers.queue.queue_arn])
    for below in ("", f"{bus_name}/"):
        acknowledge_wildcard(
            role,
            "arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:rule/"
            f"{below}{rule_prefix(stage.name)}*",
            because="Which triggers tenants will have is not known when it is written.",
        )


def _rule_arns(scope: Construct, *, stage: Stage, bus_name: str) -> list[str]:
    """Return the ARNs of this stage's rules, on our bus and on the account's default one."""
    named = f"{rule_prefix(stage.name)}*"
    stack = Stack.of(scope)
    return [
        stack.format_arn(service="events", resource="rule", resource_name=name)
        for name in (named, f"{bus_name}/{named}")
    ]


def _accept_rules(queue: sqs.Queue, *, stage: Stage, bus_name: str) -> None:
    queue.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("events.amazonaws.com")],
            actions=["sqs:SendMessage"],
            resources=[queue.queue_arn],
            conditions={
                "ArnLike": {"aws:SourceArn": _rule_arns(queue, stage=stage, bus_name=bus_name)},
            },
        )
    )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    """Allow what the API's submission needs, and parking."""
    allow(
        role,
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        on=[shared.state_table.table_arn],
    )
    keep_from_tenant_settings(role, state_table=shared.state_table.table_arn)
    allow_closing_jobs(role, state_table=shared.state_table.table_arn)
    allow_on_partitions(
        role,
        "dynamodb:BatchGetItem",
        "dynamodb:Query",
        state_table=shared.state_table.table_arn,
        partitions=[
            *(job_partition("*", "*"), open_jobs_partition("*")),
            queues_partition("*"),
        ],
    )
    allow(role, "dynamodb:BatchGetItem", on=[shared.task_definitions_table.table_arn])
    shared.artifacts.allow_task_files(role, "s3:PutObject")
    shared.artifacts.allow_event_payloads(role)
    shared.artifacts.allow_parking(role)
    queues = (shared.dispatches, shared.job_steps)
    allow(role, "sqs:SendMessage", on=[one.queue.queue_arn for one in queues])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
