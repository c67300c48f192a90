"""Everything in which the stages differ. Below this table nobody asks which stage it is.

`local` is deployed into MiniStack; what MiniStack cannot do is switched off in its row.
"""

from dataclasses import dataclass
from typing import Final, Literal

from aws_cdk import RemovalPolicy
from aws_cdk.aws_logs import RetentionDays

from stacks.errors import UnknownStage
from switchyard.domain.access.rates import Limits
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.measuring.scaling import USUAL_SCALING, ScalingPolicy
from switchyard.settings import AgentBackend


@dataclass(frozen=True)
class PythonPlatform:
    """Where the dependency layer will be imported."""

    name: str
    uv_options: tuple[str, ...]


LAMBDA_ARM64: Final = PythonPlatform(
    name="aarch64-manylinux2014-python3.13",
    uv_options=("--python-platform", "aarch64-manylinux2014", "--python-version", "3.13"),
)


@dataclass(frozen=True, kw_only=True)
class Stage:
    name: str

    removal_policy: RemovalPolicy
    log_retention: RetentionDays
    events_retention_days: int
    archive_days: int | None
    artifacts_retention_days: int

    layer_platform: PythonPlatform | None
    """What the dependency layer is built for; `None` where functions have the packages anyway."""
    tracing: bool
    copies_per_queue: int | None
    """How many copies of a function may work on its queue at once; `None` leaves it to Lambda."""

    nat_gateways: int
    """With none, workers live in public subnets, reachable by nobody: no inbound rule exists."""
    flow_logs: bool
    builds_worker_image: bool
    scaling: ScalingPolicy
    scales_workers: bool
    watches_workers: bool

    checks_health: bool
    """Whether running tasks are looked after by themselves, every five minutes."""
    health_limits: HealthLimits
    """Of tasks whose definitions say nothing else."""

    otlp_endpoint: str
    """Where an OpenTelemetry collector takes traces; empty: nowhere."""

    slack_channel: str
    """Where people are told of incidents, if a token is in the stage's secret."""

    key_limits: Limits
    """How many requests each key may make."""
    webhooks_may_reach_private: bool
    """Whether jobs may name webhooks at private addresses, without TLS and on any port."""

    adopting_tenant: str
    """Whose the tasks of other producers' messages are."""
    agent_backend: AgentBackend
    claude_credential: Literal["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"]
    max_concurrent: int
    wait_time_seconds: int
    offline_delay_ms: int
    output_folder: str
    delete_files_after_upload: bool

    def prefixed(self, name: str) -> str:
        return f"switchyard-{self.name}-{name}"

    def suffixed(self, name: str) -> str:
        return f"{name}-{self.name}"


LOCAL: Final = Stage(
    name="local",
    removal_policy=RemovalPolicy.DESTROY,
    log_retention=RetentionDays.ONE_DAY,
    events_retention_days=7,
    archive_days=None,
    artifacts_retention_days=7,
    layer_platform=None,  # MiniStack's functions run in .venv, which has the layer's very pins
    tracing=False,
    copies_per_queue=2,  # each further one would be another cold start on the same machine
    nat_gateways=0,
    flow_logs=False,
    builds_worker_image=False,
    scaling=USUAL_SCALING,
    scales_workers=False,
    watches_workers=False,
    checks_health=False,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard-local",
    # Nobody is kept from trying things out, and whole suites of tests use one key.
    key_limits=Limits(per_second=10_000, burst=10_000, per_day=10_000_000),
    webhooks_may_reach_private=True,  # who tries them out listens on this very machine
    adopting_tenant="local",
    agent_backend="auto",
    claude_credential="ANTHROPIC_API_KEY",
    max_concurrent=3,
    wait_time_seconds=2,
    offline_delay_ms=600,  # long enough for a person to see a task run
    output_folder=".output",
    delete_files_after_upload=False,
)

DEV: Final = Stage(
    name="dev",
    removal_policy=RemovalPolicy.DESTROY,
    log_retention=RetentionDays.TWO_WEEKS,
    events_retention_days=30,
    archive_days=7,
    artifacts_retention_days=30,
    layer_platform=LAMBDA_ARM64,
    tracing=True,
    copies_per_queue=None,
    nat_gateways=0,
    flow_logs=True,
    builds_worker_image=True,
    scaling=ScalingPolicy(max_workers=2),
    scales_workers=True,
    watches_workers=False,
    checks_health=False,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard-dev",
    key_limits=Limits(),
    webhooks_may_reach_private=False,
    adopting_tenant="default",
    agent_backend="claude-agent-sdk",
    claude_credential="ANTHROPIC_API_KEY",
    max_concurrent=3,
    wait_time_seconds=20,
    offline_delay_ms=0,
    output_folder="/work/output",
    delete_files_after_upload=True,
)

PROD: Final = Stage(
    name="prod",
    # Kept when deleted, but not when a first deployment fails: it could never be repeated.
    removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    log_retention=RetentionDays.THREE_MONTHS,
    events_retention_days=365,
    archive_days=90,
    artifacts_retention_days=365,
    layer_platform=LAMBDA_ARM64,
    tracing=True,
    copies_per_queue=None,
    nat_gateways=1,
    flow_logs=True,
    builds_worker_image=True,
    scaling=USUAL_SCALING,
    scales_workers=True,
    watches_workers=True,
    checks_health=True,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard",
    key_limits=Limits(),
    webhooks_may_reach_private=False,
    adopting_tenant="default",
    agent_backend="claude-agent-sdk",
    claude_credential="ANTHROPIC_API_KEY",
    max_concurrent=3,
    wait_time_seconds=20,
    offline_delay_ms=0,
    output_folder="/work/output",
    delete_files_after_upload=True,
)

STAGES: Final = {stage.name: stage for stage in (LOCAL, DEV, PROD)}


def stage_named(name: str | None) -> Stage:
    known = ", ".join(STAGES)
    if name is None:
        raise UnknownStage(
            f"no stage was given; say -c stage=<name>, where <name> is one of {known}"
        )
    if name not in STAGES:
        raise UnknownStage(f"there is no stage '{name}'; the stages are {known}")
    return STAGES[name]
