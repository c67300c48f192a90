"""The container that runs `python -m switchyard_worker`."""

from collections.abc import Mapping
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs.permissions import acknowledge, acknowledge_wildcard
from stacks.environment import powertools_environment
from stacks.paths import REPOSITORY
from stacks.stage import Stage
from switchyard.domain.scheduling.pools import DEFAULT_POOL, Pool

SERVICE = "worker"
STOP_TIMEOUT_SECONDS = 120  # the most that Fargate grants
WRITABLE_FOLDERS = {"tasks": "/work", "temporary": "/tmp"}  # noqa: S108  a volume of its own
ENTRYPOINT = "/app/switchyard_worker/entrypoint.sh"
# Of Docker's fourteen the entrypoint needs KILL, SETGID, SETUID and SETPCAP, and Fargate can take
# away but not give: dropping all of them and adding four back is refused.
UNNEEDED_CAPABILITIES = (
    ecs.Capability.AUDIT_WRITE,
    ecs.Capability.CHOWN,
    ecs.Capability.DAC_OVERRIDE,
    ecs.Capability.FOWNER,
    ecs.Capability.FSETID,
    ecs.Capability.MKNOD,
    ecs.Capability.NET_BIND_SERVICE,
    ecs.Capability.NET_RAW,
    ecs.Capability.SETFCAP,
    ecs.Capability.SYS_CHROOT,
)

WORKERS_MEMORY_MB: Final = 512
"""The memory that the worker, its proxy for Claude and its guarded checks use themselves."""


def memory_of_each_task_mb(pool: Pool) -> int:
    """Return how much memory a task may use, so that all slots together leave the worker enough."""
    return (pool.memory_mb - WORKERS_MEMORY_MB) // pool.slots


def service_name(pool: Pool) -> str:
    """Name the service of a pool within its stage; the default pool's is as before pools."""
    return SERVICE if pool.name == DEFAULT_POOL else f"{SERVICE}-{pool.name}"


class WorkerTask(Construct):
    """The worker's ECS task: its root file system is read-only; tasks write to its volumes."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        pool: Pool,
        environment: Mapping[str, str],
        log_group: logs.LogGroup | None = None,
    ) -> None:
        """`log_group` is that of the stage's other workers, if there is one."""
        super().__init__(scope, construct_id)
        service = service_name(pool)
        self.definition = ecs.FargateTaskDefinition(
            self,
            "Definition",
            family=stage.prefixed(service),
            cpu=pool.cpu,
            memory_limit_mib=pool.memory_mb,
            runtime_platform=ecs.RuntimePlatform(
                cpu_architecture=ecs.CpuArchitecture.ARM64,
                operating_system_family=ecs.OperatingSystemFamily.LINUX,
            ),
        )
        self.log_group = log_group or self._log_group(stage)
        container = self.definition.add_container(
            SERVICE,
            image=_image(stage),
            environment={**environment, **powertools_environment(stage, service=SERVICE)},
            secrets={stage.claude_credential: self._claude_credential(stage)},
            logging=ecs.LogDriver.aws_logs(stream_prefix=service, log_group=self.log_group),
            readonly_root_filesystem=True,
            linux_parameters=self._linux_parameters(),
            health_check=_health_check(),
            stop_timeout=Duration.seconds(STOP_TIMEOUT_SECONDS),
        )
        self._give_writable_folders(container)
        self._acknowledge_findings()

    def _claude_credential(self, stage: Stage) -> ecs.Secret:
        secret = secretsmanager.Secret.from_secret_name_v2(
            self, "Claude", f"switchyard/{stage.name}/claude"
        )
        self.claude_credential_arn = secret.secret_arn
        """The secret's ARN without the six random characters at its end."""
        return ecs.Secret.from_secrets_manager(secret)

    def _log_group(self, stage: Stage) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/switchyard/{stage.name}/{SERVICE}",
            retention=stage.log_retention,
            removal_policy=stage.removal_policy,
        )

    def _linux_parameters(self) -> ecs.LinuxParameters:
        parameters = ecs.LinuxParameters(self, "LinuxParameters")
        parameters.drop_capabilities(*UNNEEDED_CAPABILITIES)
        return parameters

    def _give_writable_folders(self, container: ecs.ContainerDefinition) -> None:
        for volume, path in WRITABLE_FOLDERS.items():
            self.definition.add_volume(name=volume)
            container.add_mount_points(
                ecs.MountPoint(source_volume=volume, container_path=path, read_only=False)
            )

    def _acknowledge_findings(self) -> None:
        acknowledge(
            self.definition,
            "AwsSolutions-ECS2",
            because="Names and limits only; the one secret is a reference.",
        )
        acknowledge_wildcard(
            self.definition.obtain_execution_role(),
            "*",
            because="ecr:GetAuthorizationToken takes no resource.",
        )


def _health_check() -> ecs.HealthCheck:
    """Run as root, hence through the entrypoint: the pulse lies where only the worker looks."""
    return ecs.HealthCheck(
        command=["CMD", ENTRYPOINT, "python", "-m", "switchyard_worker.health"],
        interval=Duration.seconds(30),
        timeout=Duration.seconds(10),
        start_period=Duration.seconds(60),
        retries=3,
    )


def _image(stage: Stage) -> ecs.ContainerImage:
    if not stage.builds_worker_image:
        return ecs.ContainerImage.from_registry("switchyard-worker")
    return ecs.ContainerImage.from_asset(
        str(REPOSITORY),
        file="switchyard_worker/Dockerfile",
        platform=ecr_assets.Platform.LINUX_ARM64,
    )
