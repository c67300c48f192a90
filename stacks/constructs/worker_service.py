"""Keeps workers running, lets a busy one refuse to be stopped, and lets each see its release."""

from aws_cdk import Stack
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from stacks.constructs.permissions import acknowledge_wildcard, allow
from stacks.constructs.worker_network import WorkerNetwork
from stacks.constructs.worker_task import WorkerTask, service_name
from stacks.stage import Stage
from switchyard.domain.scheduling.pools import Pool

CLUSTER = "workers"


class WorkerService(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        pool: Pool,
        network: WorkerNetwork,
        task: WorkerTask,
        cluster: ecs.Cluster | None = None,
    ) -> None:
        """`cluster` is that of the stage's other pools, if there is one."""
        super().__init__(scope, construct_id)
        self.cluster = cluster or self._cluster(stage, network)
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=self.cluster,
            service_name=stage.prefixed(service_name(pool)),
            task_definition=task.definition,
            vpc_subnets=network.workers_subnets,
            security_groups=network.security_groups,
            assign_public_ip=not network.behind_nat,
            min_healthy_percent=100,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
            capacity_provider_strategies=_on_spot() if pool.spot else None,
        )
        self.service.node.add_dependency(*network.ways_out)
        self._allow_protection(stage, task)
        own = service_arn(self, stage, pool)
        allow(task.definition.task_role, "ecs:DescribeServices", on=[own])

    def _cluster(self, stage: Stage, network: WorkerNetwork) -> ecs.Cluster:
        return ecs.Cluster(
            self,
            "Cluster",
            vpc=network.vpc,
            cluster_name=stage.prefixed(CLUSTER),
            container_insights_v2=ecs.ContainerInsights.ENABLED,
            enable_fargate_capacity_providers=any(pool.spot for pool in stage.pools),
        )

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


def _on_spot() -> list[ecs.CapacityProviderStrategy]:
    """Let AWS stop a worker after two minutes' warning; what it runs is handed back."""
    return [ecs.CapacityProviderStrategy(capacity_provider="FARGATE_SPOT", weight=1)]


def service_arn(scope: Construct, stage: Stage, pool: Pool) -> str:
    """Build it from names: the service refers to the task definition, which needs this ARN."""
    name = f"{stage.prefixed(CLUSTER)}/{stage.prefixed(service_name(pool))}"
    return Stack.of(scope).format_arn(service="ecs", resource="service", resource_name=name)
