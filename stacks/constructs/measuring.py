"""The function that measures a stage every minute, and its metrics."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import raise_if_not_invoked
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.environment import environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts import metrics, tables
from switchyard.contracts.metrics import NAMESPACE
from switchyard.settings import MeasureSettings

EVERY = Duration.minutes(1)
COUNTS = f"{tables.COUNTS_PARTITIONS}*"


class Measuring(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        shared: InfrastructureStack,
        layers: FunctionLayers,
        dead_letters: Sequence[sqs.Queue],
    ) -> None:
        super().__init__(scope, construct_id)
        urls = ",".join(queue.queue_url for queue in dead_letters)
        measure = HouseFunction(
            self,
            "Measure",
            stage=stage,
            folder="measure",
            layers=layers,
            environment=environment_for(
                MeasureSettings,
                stage=stage.name,
                state_table_name=shared.state_table.table_name,
                sqs_queue_url=shared.tasks.queue.queue_url,
                dead_letter_queue_urls=urls,
                pools=pools_as_json(shared.pools),
            ),
        )
        self.function = measure.function
        _grant(measure.role, shared, dead_letters)
        self._schedule(stage)

    def _schedule(self, stage: Stage) -> None:
        rule = events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(EVERY),
            targets=[targets.LambdaFunction(self.function)],
        )
        raise_if_not_invoked(
            self,
            "MeasureNotInvoked",
            self.function,
            stage=stage,
            every=EVERY,
            schedule=rule,
            meaning="The function measure has not been invoked for five minutes: no alarm on what "
            "it measures can be trusted.",
        )


def measured(
    name: str,
    stage: Stage,
    *,
    statistic: str = "Average",
    over: Duration = EVERY,
    pool: str | None = None,
) -> cloudwatch.Metric:
    """One of the numbers that the function publishes, of the stage or of one pool."""
    of_pool = {metrics.POOL: pool} if pool else {}
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": "measure", metrics.STAGE: stage.name, **of_pool},
        period=over,
        statistic=statistic,
    )


def _grant(role: iam.IRole, shared: InfrastructureStack, dead_letters: Sequence[sqs.Queue]) -> None:
    state = shared.state_table.table_arn
    allow(role, "dynamodb:Query", on=[f"{state}/index/{tables.DUE_INDEX}"])
    allow_on_partitions(
        role,
        "dynamodb:Query",
        state_table=state,
        partitions=[COUNTS, tables.WORKERS_PARTITION, tables.POOLS_PARTITION],
    )
    allow_on_partitions(
        role, "dynamodb:GetItem", "dynamodb:UpdateItem", state_table=state, partitions=[COUNTS]
    )
    queues = [*(one.queue for one in shared.pool_queues.values()), *dead_letters]
    allow(role, "sqs:GetQueueAttributes", on=[queue.queue_arn for queue in queues])
