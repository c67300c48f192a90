"""The stack that saves every event of the bus in the events table."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.notifications import allow_secret
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.constructs.subscription import EventSubscription
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import COUNTS_PARTITIONS
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
            folder="save_event",
            layers=FunctionLayers(self, "Layers", stage=stage),
            environment=environment_for(
                SaveEventSettings,
                stage=stage.name,
                dynamodb_events_table_name=shared.events_table.table_name,
                state_table_name=shared.state_table.table_name,
                events_retention_days=stage.events_retention_days,
                **_traces(stage),
            ),
        )
        _grant(save_event.role, stage, shared)
        save_event.consume(
            shared.saves.queue,
            batch_size=100,
            at_once=stage.concurrency.save_event,
            window=Duration.seconds(1),
        )


def _grant(role: iam.IRole, stage: Stage, shared: InfrastructureStack) -> None:
    allow(role, "dynamodb:PutItem", on=[shared.events_table.table_arn])
    allow_on_partitions(
        role,
        "dynamodb:UpdateItem",
        state_table=shared.state_table.table_arn,
        partitions=[f"{COUNTS_PARTITIONS}*"],
    )
    if stage.otlp_endpoint:
        allow_secret(role, _otlp_secret(stage))


def _traces(stage: Stage) -> dict[str, str]:
    if not stage.otlp_endpoint:
        return {}
    return {
        "otel_exporter_otlp_endpoint": stage.otlp_endpoint,
        "otlp_secret": _otlp_secret(stage),
    }


def _otlp_secret(stage: Stage) -> str:
    """The name of the secret that operators create where the collector asks for a key."""
    return f"switchyard/{stage.name}/otlp"
