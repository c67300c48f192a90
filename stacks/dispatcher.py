"""Moves jobs on: every settled task wakes the dispatcher, which queues what became ready."""

from aws_cdk import Stack
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow
from stacks.constructs.subscription import EventSubscription
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.bus import WAKING_EVENTS
from switchyard.settings import DispatcherSettings


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
        dispatch = HouseFunction(
            self,
            "Dispatch",
            stage=stage,
            verb="dispatch",
            layers=FunctionLayers(self, "Layers", stage=stage),
            environment=environment_for(
                DispatcherSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                s3_bucket=shared.artifacts.bucket.bucket_name,
            ),
        )
        dispatch.consume(shared.dispatches.queue, batch_size=10)
        allow(
            dispatch.role,
            "dynamodb:BatchGetItem",
            "dynamodb:GetItem",
            "dynamodb:UpdateItem",
            "dynamodb:Query",
            on=[shared.state_table.table_arn],
        )
        allow(dispatch.role, "sqs:SendMessage", on=[shared.tasks.queue.queue_arn])
        allow(dispatch.role, "events:PutEvents", on=[shared.bus.event_bus_arn])
        shared.artifacts.allow_event_payloads(dispatch.role)
