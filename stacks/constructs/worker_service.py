"""Keeps workers running, lets a busy one refuse to be stopped, and lets each see its release."""

from aws_cdk import Stack
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from stacks.constructs.permissions import acknowledge_wildcard, allow
from stacks.constructs.worker_network import WorkerNetwork
from stacks.constructs.worker_task import SERVICE, WorkerTask
from stacks.stage import Stage

CLUSTER = "workers"


class WorkerService(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        network: WorkerNetwork,
        task: WorkerTask,
    ) -> None:
        super().__init__(scope, construct_id)
        cluster = ecs.Cluster(
            self,
            "Cluster",
            vpc=network.vpc,
            cluster_name=stage.prefixed(CLUSTER),
            container_insights_v2=ecs.ContainerInsights.ENABLED,
        )
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=cluster,
            service_name=stage.prefixed(SERVICE),
            task_definition=task.definition,
            vpc_subnets=network.workers_subnets,
            security_groups=network.security_groups,
            assign_public_ip=not network.behind_nat,
            min_healthy_percent=100,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
        )
        self.service.node.add_dependency(*network.ways_out)
        self._allow_protection(stage, task)
        allow(task.definition.task_role, "ecs:DescribeServices", on=[service_arn(self, stage)])

    def _allow_protection(self, stage: Stage, task: WorkerTask) -> None:
        role = task.definition.task_role
        tasks = f"{stage.prefixed(CLUSTER)}/*"
        tasks_arn = Stack.of(self).format_arn(service="ecs", resource="task", resource_name=tasks)
        allow(role, "ecs:UpdateTaskProtection", on=[tasks_arn])
        acknowledge_wildcard(
            role,
            f"arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/{tasks}",
            because="A worker protects itself, and its task's id is not known before it runs.",
        )


def service_arn(scope: Construct, stage: Stage) -> str:
    """Build it from names: the service refers to the task definition, which needs this ARN."""
    name = f"{stage.prefixed(CLUSTER)}/{stage.prefixed(SERVICE)}"
    return Stack.of(scope).format_arn(service="ecs", resource="service", resource_name=name)
