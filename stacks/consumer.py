"""Runs tasks: Fargate workers that compete for the messages of the task queue."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.dashboards import WorkerWatch
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.constructs.restricted_egress import Reachable, worker_environment
from stacks.constructs.worker_log_metrics import ParkedByWorkers, WorkerLogMetrics
from stacks.constructs.worker_network import WorkerNetwork
from stacks.constructs.worker_scaling import scale_on_backlog
from stacks.constructs.worker_service import WorkerService, service_arn
from stacks.constructs.worker_task import WorkerTask, memory_of_each_task_mb
from stacks.environment import as_json, environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import (
    CONSUMPTION_PARTITION,
    PARTITION_KEY,
    SORT_KEY,
    WORKERS_PARTITION,
    job_partition,
    queues_partition,
)
from switchyard.domain.ids import BARE_PREFIX
from switchyard.settings import WorkerSettings

LEASE_ATTRIBUTES = (
    *(PARTITION_KEY, SORT_KEY, "state", "attempt", "max_attempts", "fence", "owner"),
    *("lease_until_ms", "started_at_ms", "settled_at_ms", "not_before_ms", "due_shard"),
    *("due_at_ms", "cancel_requested", "resends", "signs", "last_error", "outcome", "output"),
    *("output_key", "kind"),
)
"""The attributes that a worker writes of its task, and those that these writes depend on.

`kind` is there because a claim depends on it: a held task has one, and no worker runs it. Not among
them: what a task is and needs (definition, input, dependencies), and what a job is.
"""


class ConsumerStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        task = WorkerTask(self, "Task", stage=stage, environment=self._environment(stage, shared))
        _grant(task.definition.task_role, stage, shared)
        worker = WorkerService(
            self,
            "Worker",
            stage=stage,
            network=WorkerNetwork(
                self, "Network", stage=stage, reachable=self._reachable(stage, shared, task)
            ),
            task=task,
        )
        ParkedByWorkers(self, "Quarantine", stage=stage, log_group=task.log_group)
        WorkerLogMetrics(self, "WorkerLog", log_group=task.log_group)
        if stage.scales_workers:
            scale_on_backlog(
                worker.service,
                queue=shared.tasks.queue,
                policy=stage.scaling,
                slots=stage.max_concurrent,
            )
        if stage.watches_workers:
            WorkerWatch(self, "Watch", stage=stage, service=worker.service, tasks=shared.tasks)
        CfnOutput(self, "WorkerTaskDefinition", value=task.definition.task_definition_arn)

    def _reachable(self, stage: Stage, shared: InfrastructureStack, task: WorkerTask) -> Reachable:
        """Name what a worker of a restricted stage, and Fargate for it, use of each service."""
        return Reachable(
            buckets=[shared.artifacts.arn, f"{shared.artifacts.arn}/*"],
            tables=[shared.state_table.table_arn, shared.task_definitions_table.table_arn],
            interfaces={
                "Sqs": [shared.tasks.queue.queue_arn],
                "Events": [shared.bus.event_bus_arn],
                "Ecs": [service_arn(self, stage)],
                "EcrApi": ["*"],  # ecr:GetAuthorizationToken takes no resource
                "EcrDocker": ["*"],
                "Logs": [task.log_group.log_group_arn],
                "Secrets": [f"{task.claude_credential_arn}-*"],
            },
        )

    def _environment(self, stage: Stage, shared: InfrastructureStack) -> dict[str, str]:
        restricted = worker_environment(stage.egress) if stage.egress else {}
        child_proxy = (
            {"child_https_proxy": stage.egress.proxy_url}
            if stage.egress and stage.egress.for_agents
            else {}
        )
        return restricted | environment_for(
            WorkerSettings,
            stage=stage.name,
            eventbridge_bus_name=shared.bus.event_bus_name,
            state_table_name=shared.state_table.table_name,
            task_definitions_table=shared.task_definitions_table.table_name,
            sqs_queue_url=shared.tasks.queue.queue_url,
            s3_bucket=shared.artifacts.bucket.bucket_name,
            tenant_id=stage.adopting_tenant,
            ceilings=as_json(stage.ceilings),
            claude_timeout=stage.ceilings.default_timeout_ms,
            agent_backend=stage.agent_backend,
            max_concurrent_claude=stage.max_concurrent,
            child_task_memory_mb=memory_of_each_task_mb(stage.max_concurrent),
            wait_time_seconds=stage.wait_time_seconds,
            output_folder=stage.output_folder,
            delete_files_after_upload=stage.delete_files_after_upload,
            worker_service_arn=service_arn(self, stage),
            offline_delay_ms=stage.offline_delay_ms,
            webhooks_may_reach_private=stage.webhooks_may_reach_private,
            **child_proxy,
        )


def _grant(role: iam.IRole, stage: Stage, shared: InfrastructureStack) -> None:
    allow(
        role,
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:SendMessage",
        on=[shared.tasks.queue.queue_arn],
    )
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
