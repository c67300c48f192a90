"""The resources that the other stacks share: queues, tables, the bus and the bucket."""

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_events as events
from constructs import Construct

from stacks.constructs import tables
from stacks.constructs.artifacts import ArtifactsBucket
from stacks.constructs.permissions import acknowledge
from stacks.constructs.queue import HouseQueue, accept_events, dead_letter_queue
from stacks.stage import Stage
from switchyard.contracts.events import DETAIL_TYPE
from switchyard.domain.scheduling.pools import DEFAULT_POOL, DeployedPool, Pool

TASK_VISIBILITY = Duration.seconds(900)
TASK_RECEIVES = 3  # a worker receives what it can take: nothing throttles it


class InfrastructureStack(Stack):
    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.state_table = tables.state_table(self, "State", stage=stage)
        self.events_table = tables.events_table(self, "Events", stage=stage)
        self.task_definitions_table = tables.task_definitions_table(
            self, "TaskDefinitions", stage=stage
        )
        self.api_keys_table = tables.api_keys_table(self, "ApiKeys", stage=stage)
        self.artifacts = ArtifactsBucket(self, "Artifacts", stage=stage)
        self.bus = self._bus(stage)
        self.pool_queues = {pool.name: self._pool_queue(stage, pool) for pool in stage.pools}
        self.tasks = self.pool_queues[DEFAULT_POOL]
        self.pools = tuple(
            DeployedPool(pool, self.pool_queues[pool.name].queue.queue_url) for pool in stage.pools
        )
        self.dispatches = self._subscribed_queue(
            "Dispatches", stage, name="dispatch-queue", reader="dispatch"
        )
        self.job_steps = HouseQueue(
            self, "JobSteps", stage=stage, name="job-queue", reader="dispatch"
        )
        self.saves = self._subscribed_queue("Saves", stage, name="event-queue", reader="save-event")
        self.signals = self._subscribed_queue(
            "Signals", stage, name="signal-queue", reader="match-signals"
        )
        self.undeliverable = dead_letter_queue(
            self, "Undeliverable", stage=stage, name="undeliverable-events-dlq"
        )
        accept_events(self.undeliverable, bus=self.bus)
        acknowledge(
            self.undeliverable,
            "AwsSolutions-SQS3",
            because="It is itself the dead-letter queue of the rules' targets.",
        )
        self._output_for_the_launcher(stage)

    def _pool_queue(self, stage: Stage, pool: Pool) -> HouseQueue:
        """Make the queue that wakes a pool; the default pool's is called as before pools."""
        return HouseQueue(
            self,
            "Tasks" if pool.name == DEFAULT_POOL else f"Tasks-{pool.name}",
            stage=stage,
            name="task-queue" if pool.name == DEFAULT_POOL else f"task-queue-{pool.name}",
            reader=None,  # workers
            visibility_timeout=TASK_VISIBILITY,
            max_receives=TASK_RECEIVES,
        )

    def _subscribed_queue(
        self, construct_id: str, stage: Stage, *, name: str, reader: str
    ) -> HouseQueue:
        subscribed = HouseQueue(self, construct_id, stage=stage, name=name, reader=reader)
        accept_events(subscribed.queue, bus=self.bus)
        return subscribed

    def _bus(self, stage: Stage) -> events.EventBus:
        bus = events.EventBus(self, "Bus", event_bus_name=f"switchyard-{stage.name}")
        if stage.archive_days is not None:
            bus.archive(
                "Archive",
                archive_name=f"switchyard-{stage.name}",
                event_pattern=events.EventPattern(detail_type=[DETAIL_TYPE]),
                retention=Duration.days(stage.archive_days),
            )
        return bus

    def _output_for_the_launcher(self, stage: Stage) -> None:
        CfnOutput(self, "StateTableName", value=self.state_table.table_name)
        CfnOutput(self, "TaskDefinitionsTableName", value=self.task_definitions_table.table_name)
        CfnOutput(self, "ApiKeysTableName", value=self.api_keys_table.table_name)
        CfnOutput(self, "EventsTableName", value=self.events_table.table_name)
        CfnOutput(self, "TaskQueueUrl", value=self.tasks.queue.queue_url)
        CfnOutput(self, "ArtifactsBucketName", value=self.artifacts.bucket.bucket_name)
        CfnOutput(self, "AdoptingTenant", value=stage.adopting_tenant)
