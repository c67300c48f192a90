"""One settings class per deployable, read once from the environment.

The stacks fill each class by name (`stacks/environment.py`), so a forgotten or misspelt variable
fails the synthesis, not the first invocation. Names of the original consumer are kept where the
thing they name still exists (`SQS_QUEUE_URL`, `S3_BUCKET`, `MAX_CONCURRENT_CLAUDE`, …).
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict

from switchyard.domain.ids import TENANT_ID

AgentBackend = Literal["auto", "claude-agent-sdk", "messages", "offline"]


def _tenant(name: str) -> str:
    if not TENANT_ID.fullmatch(name):
        raise ValueError("a tenant is 1 to 63 of a-z 0-9 -, without - in front")
    return name


TenantId = Annotated[str, AfterValidator(_tenant)]


class Settings(BaseSettings):
    """What every deployable knows: which stage it is."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    stage: str


class EmitterSettings(Settings):
    """What is needed to put events on the bus."""

    eventbridge_bus_name: str
    s3_bucket: str
    """Where the large fields of large events go, and whatever else the deployable keeps."""
    app_name: str = "task-workflow"


class ApiSettings(EmitterSettings):
    state_table_name: str
    task_definitions_table: str
    dynamodb_events_table_name: str
    dispatch_queue_url: str
    requests_per_second: PositiveInt = 100
    """What each key may make; likewise the others."""
    requests_at_once: PositiveInt = 50
    requests_per_day: PositiveInt = 10_000


class AuthorizerSettings(Settings):
    state_table_name: str


class DispatcherSettings(EmitterSettings):
    state_table_name: str
    sqs_queue_url: str
    dispatch_queue_url: str
    """Where it leaves what it had no time for."""
    dispatch_seconds: PositiveInt = 20
    """When it leaves the rest for later; Lambda ends it at 30 s."""


class SweeperSettings(EmitterSettings):
    state_table_name: str
    sqs_queue_url: str
    dispatch_queue_url: str
    sweep_at_most: PositiveInt = 500
    """How many overdue things one run looks at."""
    sweep_seconds: PositiveInt = 20
    """When a run stops looking; Lambda ends it at 30 s."""


class DeadLetterSettings(EmitterSettings):
    state_table_name: str
    sqs_queue_url: str
    task_definitions_table: str
    tenant_id: TenantId | None = None
    """As the worker's."""


class SaveEventSettings(Settings):
    dynamodb_events_table_name: str
    events_retention_days: PositiveInt


class TriggerSettings(EmitterSettings):
    state_table_name: str
    task_definitions_table: str
    dispatch_queue_url: str
    trigger_queue_url: str
    """Where its events come from; what is put aside goes back there when it is sent again."""


class AlertSettings(Settings):
    s3_bucket: str


class WorkerSettings(EmitterSettings):
    state_table_name: str
    task_definitions_table: str
    sqs_queue_url: str
    agent_backend: AgentBackend
    tenant_id: TenantId | None = None
    """Whose the tasks of bare messages are; without it they are refused."""
    max_concurrent_claude: PositiveInt = 3
    max_messages: int = Field(default=10, ge=1, le=10)
    """How many messages one receive may take; never more than there are free slots."""
    wait_time_seconds: int = Field(default=20, ge=0, le=20)
    visibility_extension_interval: PositiveInt = 20_000
    """Milliseconds between two renewals of a lease."""
    visibility_extension_amount: PositiveInt = 30
    """Seconds by which a renewal extends a message's visibility; the lease is 1.5 times this."""
    claude_timeout: PositiveInt = 300_000
    """Milliseconds an attempt may take when its definition does not say."""
    default_timeout: int = Field(default=120_000, ge=1_000, le=900_000)
    """Milliseconds a step may take, within its attempt, when it does not say."""
    child_memory_mb: PositiveInt = 1024
    claude_model: str = "claude-sonnet-5-5"
    stop_grace_seconds: PositiveInt = 100
    """How long running tasks may finish after a stop signal; Fargate kills at 120 s."""
    output_folder: Path = Path(".output")
    delete_files_after_upload: bool = False
    offline_delay_ms: int = Field(default=0, ge=0)
    """How long the offline agent pretends to think."""
