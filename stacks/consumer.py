"""Runs tasks: pools of Fargate workers, each competing for the messages of its pool's queue."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.dashboards import WorkerWatch
from stacks.constructs.permissions import (
    allow,
    allow_choosing,
    allow_on_partitions,
    allow_places,
)
from stacks.constructs.restricted_egress import Reachable, worker_environment
from stacks.constructs.worker_log_metrics import ParkedByWorkers, WorkerLogMetrics
from stacks.constructs.worker_network import WorkerNetwork
from stacks.constructs.worker_scaling import scale_on_backlog
from stacks.constructs.worker_service import WorkerService, service_arn
from stacks.constructs.worker_task import WorkerTask, memory_of_each_task_mb
from stacks.environment import as_json, environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import (
    CONSUMPTION_PARTITION,
    PARTITION_KEY,
    POOLS_PARTITION,
    READY_IN,
    READY_INDEX,
    READY_ORDER,
    SORT_KEY,
    WORKERS_PARTITION,
    job_partition,
    queues_partition,
)
from switchyard.domain.ids import BARE_PREFIX
from switchyard.domain.scheduling.pools import DEFAULT_POOL, Pool, WhenEmpty
from switchyard.settings import WorkerSettings

LEASE_ATTRIBUTES = (
    *(PARTITION_KEY, SORT_KEY, "state", "attempt", "max_attempts", "fence", "owner"),
    *("lease_until_ms", "started_at_ms", "settled_at_ms", "not_before_ms", "due_shard"),
    *("due_at_ms", "cancel_requested", "resends", "signs", "last_error", "outcome", "output"),
    *("output_key", "kind", "queue", "limits", READY_IN, READY_ORDER),
)
"""The attributes that a worker writes of its task, and those that these writes depend on.

`kind` and `limits` are there because a claim depends on them: a held task has a kind, and no worker
runs it; a task with limits is not claimed without places. `queue` is written when a failed task
moves to the group of another tier. Not among them: what a task is and needs
(definition, input, dependencies), and what a job is.
"""


class ConsumerStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        default = self._task(stage, stage.default_pool, shared)
        network = WorkerNetwork(
            self, "Network", stage=stage, reachable=self._reachable(stage, shared, default)
        )
        first = self._pool(stage, stage.default_pool, shared, network, task=default)
        ParkedByWorkers(self, "Quarantine", stage=stage, log_group=default.log_group)
        WorkerLogMetrics(self, "WorkerLog", log_group=default.log_group)
        for pool in stage.pools:
            if pool is not stage.default_pool:
                task = self._task(stage, pool, shared, log_group=default.log_group)
                self._pool(stage, pool, shared, network, task=task, cluster=first.cluster)

    def _task(
        self,
        stage: Stage,
        pool: Pool,
        shared: InfrastructureStack,
        log_group: logs.LogGroup | None = None,
    ) -> WorkerTask:
        task = WorkerTask(
            self,
            _of_pool("Task", pool),
            stage=stage,
            pool=pool,
            environment=self._environment(stage, pool, shared),
            log_group=log_group,
        )
        _grant(task.definition.task_role, stage, pool, shared)
        output = _of_pool("WorkerTaskDefinition", pool).replace("-", "")
        CfnOutput(self, output, value=task.definition.task_definition_arn)
        return task

    def _pool(
        self,
        stage: Stage,
        pool: Pool,
        shared: InfrastructureStack,
        network: WorkerNetwork,
        *,
        task: WorkerTask,
        cluster: ecs.Cluster | None = None,
    ) -> WorkerService:
        worker = WorkerService(
            self,
            _of_pool("Worker", pool),
            stage=stage,
            pool=pool,
            network=network,
            task=task,
            cluster=cluster,
        )
        queue = shared.pool_queues[pool.name]
        if stage.scales_workers:
            scale_on_backlog(
                worker.service, queue=queue.queue, policy=pool.scaling, slots=pool.slots
            )
        if stage.watches_workers:
            WorkerWatch(
                self,
                _of_pool("Watch", pool),
                stage=stage,
                name=_of_pool("workers", pool),
                service=worker.service,
                tasks=queue,
            )
        return worker

    def _reachable(self, stage: Stage, shared: InfrastructureStack, task: WorkerTask) -> Reachable:
        """Name what a worker of a restricted stage, and Fargate for it, use of each service."""
        return Reachable(
            buckets=[shared.artifacts.arn, f"{shared.artifacts.arn}/*"],
            tables=[
                shared.state_table.table_arn,
                f"{shared.state_table.table_arn}/index/{READY_INDEX}",
                shared.task_definitions_table.table_arn,
            ],
            interfaces={
                "Sqs": [one.queue.queue_arn for one in shared.pool_queues.values()],
                "Events": [shared.bus.event_bus_arn],
                "Ecs": [service_arn(self, stage, pool) for pool in stage.pools],
                "EcrApi": ["*"],  # ecr:GetAuthorizationToken takes no resource
                "EcrDocker": ["*"],
                "Logs": [task.log_group.log_group_arn],
                "Secrets": [f"{task.claude_credential_arn}-*"],
            },
        )

    def _environment(self, stage: Stage, pool: Pool, shared: InfrastructureStack) -> dict[str, str]:
        restricted = worker_environment(stage.egress) if stage.egress else {}
        child_proxy = (
            {"child_https_proxy": stage.egress.proxy_url}
            if stage.egress and stage.egress.for_agents
            else {}
        )
        return restricted | environment_for(
            WorkerSettings,
            stage=stage.name,
            pool=pool.name,
            pools=pools_as_json(shared.pools),
            when_empty=pool.when_empty,
            eventbridge_bus_name=shared.bus.event_bus_name,
            state_table_name=shared.state_table.table_name,
            task_definitions_table=shared.task_definitions_table.table_name,
            sqs_queue_url=shared.pool_queues[pool.name].queue.queue_url,
            s3_bucket=shared.artifacts.bucket.bucket_name,
            tenant_id=stage.adopting_tenant,
            ceilings=as_json(stage.ceilings),
            claude_timeout=stage.ceilings.default_timeout_ms,
            agent_backend=stage.agent_backend,
            max_concurrent_claude=pool.slots,
            pool_slots=pool.slots * pool.max_workers,
            child_task_memory_mb=memory_of_each_task_mb(pool),
            wait_time_seconds=stage.wait_time_seconds,
            output_folder=stage.output_folder,
            delete_files_after_upload=stage.delete_files_after_upload,
            worker_service_arn=service_arn(self, stage, pool),
            offline_delay_ms=stage.offline_delay_ms,
            webhooks_may_reach_private=stage.webhooks_may_reach_private,
            **child_proxy,
            **({"claude_model": pool.model} if pool.model else {}),
        )


def _of_pool(what: str, pool: Pool) -> str:
    """Name something of a pool; what the default pool has is called as before pools."""
    return what if pool.name == DEFAULT_POOL else f"{what}-{pool.name}"


def _grant(role: iam.IRole, stage: Stage, pool: Pool, shared: InfrastructureStack) -> None:
    own = shared.pool_queues[pool.name].queue.queue_arn
    allow(
        role,
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        *(["sqs:GetQueueAttributes"] if pool.when_empty is not WhenEmpty.POLL else []),
        on=[own],
    )
    queues = [one.queue.queue_arn for one in shared.pool_queues.values()]
    allow(role, "sqs:SendMessage", on=queues)
    _grant_state(role, stage, shared.state_table.table_arn)
    allow(
        role,
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        on=[shared.task_definitions_table.table_arn],
    )
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
    shared.artifacts.allow_event_payloads(role)
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_listing_task_files(role)
    shared.artifacts.allow_parking(role)


def _grant_state(role: iam.IRole, stage: Stage, state: str) -> None:
    """Allow a worker what it does to tasks, to its own presence and to the stage's pause."""
    jobs = job_partition("*", "*")
    allow_on_partitions(role, "dynamodb:Query", state_table=state, partitions=[POOLS_PARTITION])
    allow_on_partitions(role, "dynamodb:BatchGetItem", state_table=state, partitions=[jobs])
    queues = queues_partition(stage.adopting_tenant)
    allow_on_partitions(
        role,
        "dynamodb:GetItem",
        state_table=state,
        partitions=[jobs, CONSUMPTION_PARTITION, queues],
    )
    allow_on_partitions(
        role,
        "dynamodb:UpdateItem",
        state_table=state,
        partitions=[jobs],
        attributes=LEASE_ATTRIBUTES,
    )
    adopted = job_partition(stage.adopting_tenant, f"{BARE_PREFIX}*")
    allow_on_partitions(
        role,
        "dynamodb:UpdateItem",
        state_table=state,
        partitions=[WORKERS_PARTITION, adopted],
    )
    allow_choosing(role, state_table=state)
    allow_places(role, state_table=state)
