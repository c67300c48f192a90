"""Remembers: every event on the bus is written to the events table."""

from aws_cdk import Duration, Stack
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow
from stacks.constructs.subscription import EventSubscription
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.settings import SaveEventSettings


class EventStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        EventSubscription(
            self,
            "EveryEvent",
            bus=shared.bus,
            queue=shared.saves.queue,
            undeliverable=shared.undeliverable,
        )
        save_event = HouseFunction(
            self,
            "SaveEvent",
            stage=stage,
            verb="save_event",
            layers=FunctionLayers(self, "Layers", stage=stage),
            environment=environment_for(
                SaveEventSettings,
                stage=stage.name,
                dynamodb_events_table_name=shared.events_table.table_name,
                events_retention_days=stage.events_retention_days,
            ),
        )
        save_event.consume(shared.saves.queue, batch_size=100, window=Duration.seconds(1))
        allow(save_event.role, "dynamodb:PutItem", on=[shared.events_table.table_arn])
