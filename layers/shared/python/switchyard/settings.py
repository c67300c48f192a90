"""Settings, one class per deployable, read once from the environment.

The stacks fill each class by name (`stacks/environment.py`), so a forgotten or misspelt variable
fails the synthesis, not the first invocation. Names of the original consumer stay where the
thing they name still exists (`SQS_QUEUE_URL`, `S3_BUCKET`, `MAX_CONCURRENT_CLAUDE`, …).
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.domain.scheduling.pools import DEFAULT_POOL, DeployedPool, WhenEmpty
from switchyard.domain.scheduling.work_queues import DEFAULT_GROUPS

_WELL = HealthLimits()
AgentBackend = Literal["auto", "claude-agent-sdk", "messages", "offline"]


def _tenant(name: str) -> str:
    if not TENANT_ID.fullmatch(name):
        raise ValueError(f"a tenant is {TENANT_ID_RULE}")
    return name


TenantId = Annotated[str, AfterValidator(_tenant)]


class Settings(BaseSettings):
    """The settings that every deployable has: which stage it is."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    stage: str


class EmitterSettings(Settings):
    """The settings that are needed to put events on the bus."""

    eventbridge_bus_name: str
    s3_bucket: str
    """The bucket of the large fields of large events, and of all else the deployable stores."""
    app_name: str = "task-workflow"


class PoolsSettings(Settings):
    """What is needed to reach the workers of every pool."""

    pools: tuple[DeployedPool, ...] = ()
    """The pools of the stage as JSON; with none, all tasks go to the one task queue."""


class SubmitterSettings(EmitterSettings):
    """The settings that are needed to accept jobs."""

    ceilings: Ceilings = WIDEST_CEILINGS
    """The ceilings of what tenants may ask for, as JSON."""
    state_table_name: str
    task_definitions_table: str
    dispatch_queue_url: str
    job_queue_url: str
    queue_groups: tuple[str, ...] = DEFAULT_GROUPS
    """The groups of work queues that the stage has, as a JSON list."""
    webhooks_may_reach_private: bool = False
    """Whether jobs may name webhooks at private addresses, without TLS and on any port."""


class ApiSettings(SubmitterSettings, PoolsSettings):
    dynamodb_events_table_name: str
    trigger_queue_arn: str
    """The queue to which the rules of triggers send their events."""
    trigger_dead_letters_arn: str
    requests_per_second: PositiveInt = 100
    """The limit of each API key, as are the next two settings."""
    requests_at_once: PositiveInt = 50
    requests_per_day: PositiveInt = 10_000


class AuthorizerSettings(Settings):
    api_keys_table_name: str


class DispatcherSettings(EmitterSettings, PoolsSettings):
    state_table_name: str
    task_definitions_table: str
    """The table with the templates of jobs that are tasks."""
    sqs_queue_url: str
    dispatch_queue_url: str
    """The queue for work that the dispatcher had no time for."""
    job_queue_url: str
    """The queue for jobs that are being written, cancelled or redriven."""
    ceilings: Ceilings = WIDEST_CEILINGS
    """The ceilings; one limits a tenant's open tasks, and a fan-out waits for room."""
    dispatch_seconds: PositiveInt = 20
    """The seconds after which it leaves the rest for later; Lambda ends it at 30 s."""


class SweeperSettings(EmitterSettings, PoolsSettings):
    state_table_name: str
    sqs_queue_url: str
    dispatch_queue_url: str
    job_queue_url: str
    alerts_queue_url: str
    """The alerts queue, for alerts that were postponed."""
    sweep_at_most: PositiveInt = 500
    """The most overdue items that one run looks at."""
    sweep_seconds: PositiveInt = 20
    """The seconds after which a run stops looking; Lambda ends it at 30 s."""
    sweep_most_tokens: int = Field(default=200, ge=10, le=5_000)
    """The most wake-ups in a pool's queue up to which a sweep fills it."""


class DeadLetterSettings(EmitterSettings, PoolsSettings):
    state_table_name: str
    sqs_queue_url: str
    task_definitions_table: str
    tenant_id: TenantId | None = None
    """The tenant of bare messages, as the worker has it."""


class SaveEventSettings(Settings):
    dynamodb_events_table_name: str
    state_table_name: str
    """The table in which saved events are counted."""
    events_retention_days: PositiveInt
    otel_exporter_otlp_endpoint: str = ""
    """The URL of a collector of traces; without it no spans are exported."""
    otel_exporter_otlp_headers: str = ""
    """The headers for the collector: name=value with commas between; keys belong in a secret."""
    otlp_secret: str = ""
    """The name of the secret with such headers."""


class TriggerSettings(SubmitterSettings):
    trigger_queue_url: str
    """The queue of the events of triggers; parked messages are redriven to it."""


class SignalSettings(EmitterSettings):
    state_table_name: str
    signal_queue_url: str
    """The queue of the events of signals; work that is left to do is sent there again."""


class ArchiveDeadLettersSettings(Settings):
    s3_bucket: str


class MeasureSettings(PoolsSettings):
    state_table_name: str
    sqs_queue_url: str
    dead_letter_queue_urls: str
    """The URLs of all dead-letter queues, with commas between."""


class AlertingSettings(Settings):
    """The settings of every function that posts alerts."""

    state_table_name: str
    """The table that stores alerts."""
    slack_secret: str = ""
    """The name of the secret with the bot's token; without it no alert is posted."""
    slack_channel: str = ""
    slack_url: str = ""
    """The address of Slack's Web API, if it is not Slack's own."""


class EscalatorSettings(AlertingSettings):
    """The settings of a function that also publishes to the channels and webhooks of jobs."""

    webhooks_secret: str = ""
    """The name of the secret that webhooks are signed with; without it none is called."""
    webhooks_may_reach_private: bool = False
    """The same value as that of the API, which accepts jobs."""


class ReportIncidentsSettings(EscalatorSettings):
    s3_bucket: str
    """The bucket with archived dead letters."""


class AnswerSlackSettings(EmitterSettings, AlertingSettings):
    dispatch_queue_url: str
    job_queue_url: str
    slack_operators: str = ""
    """The ids of users who may press buttons on every tenant's incidents, separated by commas."""

    @property
    def operators(self) -> frozenset[str]:
        return frozenset(filter(None, self.slack_operators.split(",")))


class CheckSettings(EmitterSettings, AlertingSettings, PoolsSettings):
    task_definitions_table: str
    tenant_id: TenantId | None = None
    """The tenant whose log has the check when nothing runs."""
    silent_warning_ms: PositiveInt = _WELL.silent_warning_ms
    """The silence after which a task is worth a warning."""
    silent_critical_ms: PositiveInt = _WELL.silent_critical_ms
    overtime_ms: PositiveInt = _WELL.overtime_ms
    """The time that a task may run when neither its definition nor a redrive says so."""
    progress_ms: PositiveInt = _WELL.progress_ms
    """The time for which a task may do one and the same thing."""
    same_call_repeats: PositiveInt = _WELL.repeats
    """The number of equal tool calls in a row that is too many."""

    @property
    def limits(self) -> HealthLimits:
        return HealthLimits(
            silent_warning_ms=self.silent_warning_ms,
            silent_critical_ms=self.silent_critical_ms,
            overtime_ms=self.overtime_ms,
            progress_ms=self.progress_ms,
            repeats=self.same_call_repeats,
        )


class WorkerSettings(EmitterSettings, PoolsSettings):
    state_table_name: str
    task_definitions_table: str
    sqs_queue_url: str
    """The queue of its pool."""
    pool: str = DEFAULT_POOL
    """The pool that it belongs to: one of `pools`, where there are some."""
    when_empty: WhenEmpty = WhenEmpty.POLL
    """What it does when its groups have no work: poll, hibernate or terminate."""
    agent_backend: AgentBackend
    tenant_id: TenantId | None = None
    """The tenant of tasks in bare messages; without it they are refused."""
    max_concurrent_claude: PositiveInt = 3
    pool_slots: int = Field(default=0, ge=0)
    """Slots of all workers together, as many as there may be; 0 for those of one worker."""
    aging_minutes: PositiveInt = 10
    """After so long a waiting task ranks one priority class higher, after twice as long two."""
    usd_per_slot_hour: float = Field(default=0.02, ge=0)
    """What a slot costs, which tenants are charged beside what their models cost."""
    max_messages: int = Field(default=10, ge=1, le=10)
    """The most messages of one receive; never more than there are free slots, unless those before
    were all for tasks that had settled."""
    wait_time_seconds: int = Field(default=20, ge=0, le=20)
    pause_check_seconds: int = Field(default=10, ge=1, le=10)
    """The time for which what was read of a pause of consumption is used."""
    visibility_extension_interval: PositiveInt = 20_000
    """Milliseconds between two renewals of a lease."""
    visibility_extension_amount: PositiveInt = 30
    """Seconds by which a renewal extends a message's visibility; the lease is 1.5 times this."""
    ceilings: Ceilings = WIDEST_CEILINGS
    """The most that an attempt may take and spend, whatever its definition says, as JSON."""
    claude_timeout: PositiveInt = 300_000
    """Milliseconds an attempt may take when its definition does not say."""
    default_timeout: int = Field(default=120_000, ge=1_000, le=900_000)
    """Milliseconds a step may take, within its attempt, when it does not say."""
    child_memory_mb: PositiveInt = 1024
    child_task_memory_mb: int = Field(default=0, ge=0)
    """The memory that all processes of a task may use together; 0 for no limit. Counted where each
    task has a user of its own."""
    child_disk_mb: PositiveInt = 2048
    """The disk space that a task may use; a worker on Fargate has 20 GB for all its slots."""
    child_max_files: PositiveInt = 100_000
    """The most files and folders that a task may have at once."""
    child_https_proxy: str = ""
    """The HTTPS proxy that agents' programs are given; without it they are given none."""
    claude_model: str = "claude-sonnet-5-5"
    claude_extra_models: str = ""
    """The models that a task's agent may use beside its own, with commas between."""
    webhooks_may_reach_private: bool = False
    """Whether commitments of kind `http` may name private addresses, without TLS and on any
    port."""
    functions: str = ""
    """The packages whose functions the worker serves, as folders or import names with commas
    between; installed packages with an entry point are served as well."""
    stop_grace_seconds: PositiveInt = 100
    """The time in which running tasks may finish after a stop signal; Fargate kills at 120 s."""
    output_folder: Path = Path(".output")
    delete_files_after_upload: bool = False
    offline_delay_ms: int = Field(default=0, ge=0)
    """The time for which the offline agent pretends to think."""
    worker_service_arn: str = ""
    """The ECS service that the worker belongs to; with it a worker sees that it is replaced."""

    @field_validator("pool")
    @classmethod
    def _is_one_of_the_pools(cls, pool: str, info: ValidationInfo) -> str:
        names = [deployed.name for deployed in info.data.get("pools", ())]
        if names and pool not in names:
            raise ValueError(f"the pools of the stage are {', '.join(names)}")
        return pool
