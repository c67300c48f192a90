"""Runs tasks: Fargate workers that compete for the messages of the task queue."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.permissions import allow
from stacks.constructs.quarantine_watch import QuarantineWatch
from stacks.constructs.worker_network import WorkerNetwork
from stacks.constructs.worker_scaling import scale_on_backlog
from stacks.constructs.worker_service import WorkerService
from stacks.constructs.worker_task import WorkerTask
from stacks.constructs.worker_watch import WorkerWatch
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.settings import WorkerSettings


class ConsumerStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        task = WorkerTask(self, "Task", stage=stage, environment=_environment(stage, shared))
        _grant(task.definition.task_role, shared)
        worker = WorkerService(
            self,
            "Worker",
            stage=stage,
            network=WorkerNetwork(self, "Network", stage=stage),
            task=task,
        )
        QuarantineWatch(self, "Quarantine", stage=stage, log_group=task.log_group)
        if stage.scales_workers:
            scale_on_backlog(worker.service, queue=shared.tasks.queue, policy=stage.scaling)
        if stage.watches_workers:
            WorkerWatch(self, "Watch", stage=stage, service=worker.service, tasks=shared.tasks)
        CfnOutput(self, "WorkerTaskDefinition", value=task.definition.task_definition_arn)


def _environment(stage: Stage, shared: InfrastructureStack) -> dict[str, str]:
    return environment_for(
        WorkerSettings,
        stage=stage.name,
        eventbridge_bus_name=shared.bus.event_bus_name,
        state_table_name=shared.state_table.table_name,
        task_definitions_table=shared.task_definitions_table.table_name,
        sqs_queue_url=shared.tasks.queue.queue_url,
        s3_bucket=shared.artifacts.bucket.bucket_name,
        tenant_id=stage.adopting_tenant,
        agent_backend=stage.agent_backend,
        max_concurrent_claude=stage.max_concurrent,
        wait_time_seconds=stage.wait_time_seconds,
        output_folder=stage.output_folder,
        delete_files_after_upload=stage.delete_files_after_upload,
        offline_delay_ms=stage.offline_delay_ms,
    )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    allow(
        role,
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:SendMessage",
        on=[shared.tasks.queue.queue_arn],
    )
    allow(
        role,
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        "dynamodb:UpdateItem",
        on=[shared.state_table.table_arn],
    )
    allow(
        role,
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        on=[shared.task_definitions_table.table_arn],
    )
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
    shared.artifacts.allow_event_payloads(role)
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_quarantine(role)
