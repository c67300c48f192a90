"""Ends signals by events: brings what other programs put on the bus to the function that compares.

One rule serves all tasks, since a bus has 300 rules.
"""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.constructs.subscription import EventSubscription
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.events import DETAIL_TYPE
from switchyard.contracts.tables import job_partition, signals_partition
from switchyard.settings import SignalSettings

# Not Switchyard's own, and addressed to a tenant: nothing else can end a signal.
EVENTS_OF_OTHERS = {
    "detail-type": [{"anything-but": [DETAIL_TYPE]}],
    "detail": {"tenantId": [{"exists": True}]},
}

# An event that very many tasks wait for comes back through the queue; each round has less to do.
SENDS_TO_ITS_OWN_QUEUE = lambda_.RecursiveLoop.ALLOW


class Signals(Construct):
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
        EventSubscription(
            self,
            "EventsOfOthers",
            bus=shared.bus,
            queue=shared.signals.queue,
            undeliverable=shared.undeliverable,
            pattern=EVENTS_OF_OTHERS,
        )
        match = HouseFunction(
            self,
            "MatchSignals",
            stage=stage,
            folder="match_signals",
            layers=layers,
            environment=environment_for(
                SignalSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                signal_queue_url=shared.signals.queue.queue_url,
            ),
            recursive_loop=SENDS_TO_ITS_OWN_QUEUE,
        )
        match.consume(shared.signals.queue, batch_size=10, at_once=stage.concurrency.match_signals)
        _grant(match.role, shared)


def allow_subscribing(role: iam.IRole, *, state_table: str) -> None:
    """Allow to store which events tasks wait for."""
    allow_on_partitions(
        role,
        "dynamodb:PutItem",
        state_table=state_table,
        partitions=[signals_partition("*", "*")],
    )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow_on_partitions(
        role,
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        state_table=state,
        partitions=[job_partition("*", "*")],
    )
    allow_on_partitions(
        role,
        "dynamodb:DeleteItem",
        "dynamodb:Query",
        state_table=state,
        partitions=[signals_partition("*", "*")],
    )
    shared.artifacts.allow_task_files(role, "s3:GetObject")
    shared.artifacts.allow_event_payloads(role)
    allow(role, "sqs:GetQueueUrl", "sqs:SendMessage", on=[shared.signals.queue.queue_arn])
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
