"""The event catalogue: one closed model per type, and the envelope they travel in."""

from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from switchyard.contracts.wire import Wire
from switchyard.domain.event_keys import EntityType, EventIdentity, event_id, event_keys

SCHEMA_VERSION: Final = 1
DETAIL_TYPE: Final = "log-event"


class Properties(Wire):
    """What one type of event says. `run` and `fence` tell which transition it reports."""

    event_type: ClassVar[str]
    entity_type: ClassVar[EntityType]

    job_id: str
    run: int
    fence: int = 0

    @property
    def entity_id(self) -> str:
        return self.job_id


class JobProperties(Properties):
    entity_type: ClassVar[EntityType] = EntityType.JOB


class TaskProperties(Properties):
    entity_type: ClassVar[EntityType] = EntityType.TASK

    request_id: str

    @property
    def entity_id(self) -> str:
        return self.request_id


class UsageFigures(Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float = 0.0


class CreatedTask(Wire):
    task_id: str
    name: str
    depends_on: tuple[str, ...] = ()
    input: Any = None


class JobCreated(JobProperties):
    event_type: ClassVar[str] = "Job Created"

    request_id: str
    tasks: tuple[CreatedTask, ...]
    total_tasks: int


class JobFailureDetected(JobProperties):
    event_type: ClassVar[str] = "Job Failure Detected"

    failed_task_id: str
    task_statuses: dict[str, str]


class JobSettled(JobProperties):
    total_tasks: int
    task_statuses: dict[str, str]


class JobCompleted(JobSettled):
    event_type: ClassVar[str] = "Job Completed"


class JobFailed(JobSettled):
    event_type: ClassVar[str] = "Job Failed"


class JobCancelled(JobSettled):
    event_type: ClassVar[str] = "Job Cancelled"


class TaskPending(TaskProperties):
    event_type: ClassVar[str] = "Task Pending"

    name: str
    depends_on: tuple[str, ...] | None = None


class TaskProcessingStarted(TaskProperties):
    event_type: ClassVar[str] = "Task Processing Started"

    effective_until: int
    worker_id: str
    process_id: int


class TaskProcessingFailed(TaskProperties):
    event_type: ClassVar[str] = "Task Processing Failed"

    attempt_number: int
    error: str
    error_category: str


class TaskReleased(TaskProperties):
    event_type: ClassVar[str] = "Task Released"

    reason: str
    not_before: int


class TaskCompleted(TaskProperties):
    event_type: ClassVar[str] = "Task Completed"

    output: Any
    duration_ms: int
    exit_code: int
    usage: UsageFigures


class TaskFailed(TaskProperties):
    event_type: ClassVar[str] = "Task Failed"

    error: str
    error_category: str
    retry_count: int
    source: Literal["worker", "dlq"]


class TaskTimeout(TaskProperties):
    event_type: ClassVar[str] = "Task Timeout"

    timeout_ms: int
    elapsed_ms: int
    signal: Literal["SIGTERM", "SIGKILL"]


class TaskSkipped(TaskProperties):
    event_type: ClassVar[str] = "Task Skipped"

    reason: str


class TaskCancelled(TaskProperties):
    event_type: ClassVar[str] = "Task Cancelled"

    reason: str


class Context(Wire):
    source: Literal["system"] = "system"
    environment: str
    origin: str
    worker_id: str | None = None


class Event(Wire):
    """An event with everything but its keys, which are derived from the rest."""

    schema_version: Literal[1] = SCHEMA_VERSION
    event_id: str
    entity_id: str
    entity_type: EntityType
    tenant_id: str
    app: str = Field(exclude=True)
    event_type: str
    timestamp: int
    context: Context
    properties: Properties

    @classmethod
    def of(
        cls, properties: Properties, *, tenant: str, app: str, timestamp_ms: int, context: Context
    ) -> Self:
        return cls(
            event_id=event_id(
                properties.entity_id,
                run=properties.run,
                fence=properties.fence,
                event_type=properties.event_type,
            ),
            entity_id=properties.entity_id,
            entity_type=properties.entity_type,
            tenant_id=tenant,
            app=app,
            event_type=properties.event_type,
            timestamp=timestamp_ms,
            context=context,
            properties=properties,
        )

    def detail(self) -> dict[str, Any]:
        """The whole event as it goes onto the bus: envelope, properties and keys."""
        body = self.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"properties"}
        )
        body["properties"] = self.properties.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        return body | event_keys(self._identity())

    def _identity(self) -> EventIdentity:
        return EventIdentity(
            event_id=self.event_id,
            event_type=self.event_type,
            entity_type=self.entity_type,
            entity_id=self.entity_id,
            tenant=self.tenant_id,
            app=self.app,
            timestamp_ms=self.timestamp,
        )


class ArrivedEvent(Wire):
    """An event as a consumer of the bus sees it. Fields it does not know are kept."""

    model_config = Wire.model_config | {"extra": "allow"}

    PK: str = Field(alias="PK")
    SK: str = Field(alias="SK")
    entity_id: str
    entity_type: EntityType
    tenant_id: str
    event_type: str
    timestamp: int
    properties: dict[str, Any]

    @model_validator(mode="after")
    def _keys_belong_together(self) -> Self:
        if f"TENANT#{self.tenant_id}" != self.PK:
            raise ValueError("PK does not name the event's tenant")
        return self

    def record(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)
