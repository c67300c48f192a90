"""Everything in which the stages differ. Below this table nobody asks which stage it is.

`local` is deployed into MiniStack; what MiniStack cannot do is switched off in its row.
"""

from dataclasses import dataclass
from typing import Final, Literal

from aws_cdk import RemovalPolicy
from aws_cdk.aws_logs import RetentionDays

from stacks.egress import Egress
from stacks.errors import UnknownStage
from stacks.pools import DEV_POOLS, LOCAL_POOLS, PROD_POOLS
from switchyard.domain.access.limits import Ceilings, RequestLimits
from switchyard.domain.access.tenants import problem_with_operators
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.measuring.prices import PRICES
from switchyard.domain.scheduling.pools import DEFAULT_POOL, Pool, PoolKind, problem_with_pools
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
class Concurrency:
    """How many copies of a function may work on one of its queues at once: 2 to 1,000.

    All functions of an account share 1,000 unless AWS raised its quota. What these numbers leave is
    for the API, so that no backlog makes it refuse requests.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
    """

    dispatch: int
    save_event: int
    start_triggered: int
    match_signals: int = 2
    """The least that AWS accepts: other programs put few events on the bus."""
    report_incidents: int = 2
    """The least that AWS accepts: a Slack channel takes one message a second."""
    process_dead_letters: int
    archive_dead_letters: int
    """For each of the six queues that it reads."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    name: str
    names_as_of: Literal["0.1", "0.2"]
    """The release whose names the tables and queues have; a new name replaces a resource."""

    removal_policy: RemovalPolicy
    log_retention: RetentionDays
    events_retention_days: int
    archive_days: int | None
    artifacts_retention_days: int
    deletion_protection: bool
    """Whether DynamoDB refuses every request to delete the tables."""

    layer_platform: PythonPlatform | None
    """What the dependency layer is built for; `None` where functions have the packages anyway."""
    tracing: bool
    concurrency: Concurrency

    nat_gateways: int
    """With none, workers live in public subnets, reachable by nobody: no inbound rule exists."""
    egress: Egress | None = None
    """What workers may connect to; `None`: anything."""
    flow_logs: bool
    builds_worker_image: bool
    pools: tuple[Pool, ...]
    """The sets of workers: how many there are, what they run and which groups they serve."""
    scales_workers: bool
    watches_workers: bool

    checks_health: bool
    """Whether running tasks are looked after by themselves, every five minutes."""
    health_limits: HealthLimits
    """The limits of tasks whose definitions set none."""

    otlp_endpoint: str
    """Where an OpenTelemetry collector takes traces; empty: nowhere."""

    slack_channel: str
    """The Slack channel for incidents, if a token is in the stage's secret."""
    slack_operators: tuple[str, ...]
    """The ids of the Slack users who may press buttons on every tenant's incidents; with none,
    only those whom operators list for a tenant. `*` is everybody who sees a button."""

    key_limits: RequestLimits
    """How many requests each key may make."""
    ceilings: Ceilings
    """What tenants may ask for: models, tools, money and time of an attempt, open tasks."""
    webhooks_may_reach_private: bool
    """Whether jobs may name webhooks at private addresses, without TLS and on any port."""

    adopting_tenant: str
    """The tenant that owns tasks of other producers' messages."""
    agent_backend: AgentBackend
    claude_credential: Literal["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"]
    wait_time_seconds: int
    offline_delay_ms: int
    output_folder: str
    delete_files_after_upload: bool

    def __post_init__(self) -> None:
        problem = problem_with_operators(self.slack_operators)
        if problem:
            raise ValueError(f"slack_operators of the stage {self.name}: {problem}")
        problem = self.egress.problem() if self.egress else None
        if problem:
            raise ValueError(f"egress of the stage {self.name}: {problem}")
        problem = problem_with_pools(self.pools)
        if problem:
            raise ValueError(f"pools of the stage {self.name}: {problem}")
        if any(pool.kind is PoolKind.LAMBDA for pool in self.pools):
            raise ValueError(f"pools of the stage {self.name}: Lambda pools are not deployed yet")

    @property
    def default_pool(self) -> Pool:
        return next(pool for pool in self.pools if pool.name == DEFAULT_POOL)

    def prefixed(self, name: str) -> str:
        return f"switchyard-{self.name}-{name}"

    def data_name(self, name: str) -> str:
        """Return the name of a table or a queue."""
        return self.prefixed(name) if self.names_as_of == "0.2" else f"{name}-{self.name}"


CLAUDE_TOOLS: Final = (
    *("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Task", "TodoWrite"),
    *("WebFetch", "WebSearch", "Write"),
)
"""The tools of the Claude Agent SDK that run in the child or at Anthropic."""

TENANTS_CEILINGS: Final = Ceilings(
    default_cost_usd=2.0,
    max_cost_usd=50.0,
    max_turns=100,
    max_timeout_ms=4 * 60 * 60 * 1000,
    models=tuple(PRICES),  # what has no price cannot be held to a budget
    tools=CLAUDE_TOOLS,
    max_open_tasks=50_000,
)

LOCAL: Final = Stage(
    name="local",
    names_as_of="0.2",
    removal_policy=RemovalPolicy.DESTROY,
    log_retention=RetentionDays.ONE_DAY,
    events_retention_days=7,
    archive_days=None,
    artifacts_retention_days=7,
    deletion_protection=False,
    layer_platform=None,  # MiniStack's functions run in .venv, which has the layer's very pins
    tracing=False,
    # Each further copy would be another cold start on the same machine.
    concurrency=Concurrency(
        dispatch=2, save_event=2, start_triggered=2, process_dead_letters=2, archive_dead_letters=2
    ),
    nat_gateways=0,
    flow_logs=False,
    builds_worker_image=False,
    pools=LOCAL_POOLS,
    scales_workers=False,
    watches_workers=False,
    checks_health=False,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard-local",
    slack_operators=("*",),
    # No one is hindered from trying things out, and whole suites of tests use one key.
    key_limits=RequestLimits(per_second=10_000, burst=10_000, per_day=10_000_000),
    ceilings=Ceilings(max_open_tasks=1_000_000),
    webhooks_may_reach_private=True,  # who tries them out listens on this very machine
    adopting_tenant="local",
    agent_backend="auto",
    claude_credential="ANTHROPIC_API_KEY",
    wait_time_seconds=2,
    offline_delay_ms=600,  # long enough for a person to see a task run
    output_folder=".output",
    delete_files_after_upload=False,
)

DEV: Final = Stage(
    name="dev",
    names_as_of="0.2",
    removal_policy=RemovalPolicy.DESTROY,
    log_retention=RetentionDays.TWO_WEEKS,
    events_retention_days=30,
    archive_days=7,
    artifacts_retention_days=30,
    deletion_protection=False,
    layer_platform=LAMBDA_ARM64,
    tracing=True,
    concurrency=Concurrency(
        dispatch=20,
        save_event=10,
        start_triggered=5,
        process_dead_letters=2,
        archive_dead_letters=2,
    ),
    nat_gateways=0,
    flow_logs=True,
    builds_worker_image=True,
    pools=DEV_POOLS,
    scales_workers=True,
    watches_workers=False,
    checks_health=False,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard-dev",
    slack_operators=(),
    key_limits=RequestLimits(),
    ceilings=TENANTS_CEILINGS,
    webhooks_may_reach_private=False,
    adopting_tenant="default",
    agent_backend="claude-agent-sdk",
    claude_credential="ANTHROPIC_API_KEY",
    wait_time_seconds=20,
    offline_delay_ms=0,
    output_folder="/work/output",
    delete_files_after_upload=True,
)

PROD: Final = Stage(
    name="prod",
    names_as_of="0.2",
    # Kept when deleted, but not when a first deployment fails: it could never be repeated.
    removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    log_retention=RetentionDays.THREE_MONTHS,
    events_retention_days=365,
    archive_days=90,
    artifacts_retention_days=365,
    deletion_protection=True,
    layer_platform=LAMBDA_ARM64,
    tracing=True,
    concurrency=Concurrency(
        dispatch=100,
        save_event=50,
        start_triggered=20,
        process_dead_letters=5,
        archive_dead_letters=5,
    ),
    nat_gateways=1,
    flow_logs=True,
    builds_worker_image=True,
    pools=PROD_POOLS,
    scales_workers=True,
    watches_workers=True,
    checks_health=True,
    health_limits=HealthLimits(),
    otlp_endpoint="",
    slack_channel="#switchyard",
    slack_operators=(),
    key_limits=RequestLimits(),
    ceilings=TENANTS_CEILINGS,
    webhooks_may_reach_private=False,
    adopting_tenant="default",
    agent_backend="claude-agent-sdk",
    claude_credential="ANTHROPIC_API_KEY",
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
