"""Moves jobs on: every settled task wakes the dispatcher, which queues what became ready."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import (
    allow,
    allow_closing_jobs,
    keep_from_tenant_settings,
)
from stacks.constructs.signals import Signals
from stacks.constructs.subscription import EventSubscription
from stacks.environment import as_json, environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.dispatch_messages import WAKING_EVENTS
from switchyard.settings import DispatcherSettings

# What is left over of a large job comes back through the queue that the function reads. Each round
# has less to do, so that the loop ends; Lambda would break it off after about 16 rounds.
# https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
SENDS_TO_ITS_OWN_QUEUE = lambda_.RecursiveLoop.ALLOW

# A step takes as long as a function has time for: two in a batch would be one after the other.
JOBS_PER_STEP = 1


class DispatcherStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        EventSubscription(
            self,
            "Settled",
            bus=shared.bus,
            queue=shared.dispatches.queue,
            undeliverable=shared.undeliverable,
            event_types=WAKING_EVENTS,
        )
        layers = FunctionLayers(self, "Layers", stage=stage)
        Signals(self, "Signals", stage=stage, shared=shared, layers=layers)
        dispatch = self._dispatch(stage, shared, layers)
        dispatch.consume(shared.dispatches.queue, batch_size=10, at_once=stage.concurrency.dispatch)
        dispatch.consume(
            shared.job_steps.queue,
            batch_size=JOBS_PER_STEP,
            at_once=stage.concurrency.dispatch,
            name="JobSteps",
        )
        _grant(dispatch.role, shared)

    def _dispatch(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
    ) -> HouseFunction:
        return HouseFunction(
            self,
            "Dispatch",
            stage=stage,
            folder="dispatch",
            layers=layers,
            environment=environment_for(
                DispatcherSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                task_definitions_table=shared.task_definitions_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                job_queue_url=shared.job_steps.queue.queue_url,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                ceilings=as_json(stage.ceilings),
                pools=pools_as_json(shared.pools),
            ),
            recursive_loop=SENDS_TO_ITS_OWN_QUEUE,
        )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    """Allow it to move jobs on, write large ones, cancel and redrive."""
    allow(
        role,
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:Query",
        on=[shared.state_table.table_arn],
    )
    allow(role, "dynamodb:GetItem", on=[shared.task_definitions_table.table_arn])
    keep_from_tenant_settings(role, state_table=shared.state_table.table_arn)
    allow_closing_jobs(role, state_table=shared.state_table.table_arn)
    queues = (*shared.pool_queues.values(), shared.dispatches, shared.job_steps)
    allow(role, "sqs:SendMessage", on=[one.queue.queue_arn for one in queues])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_event_payloads(role)
