"""The envelope that every event travels in: as sent, as it arrives, as it is stored."""

from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from switchyard.contracts.events.properties import Properties
from switchyard.contracts.wire import Written
from switchyard.domain.events.event_keys import EntityType, EventIdentity, event_id, event_keys
from switchyard.domain.measuring.spans import Trace, known_trace

SCHEMA_VERSION: Final = 1
DETAIL_TYPE: Final = "log-event"

# What producers and agents wrote, of any size and depth.
FREE_FORM: Final = ("input", "output", "claudeOutput", "tasks", "newTasks", "taskStatuses")
OVERFLOW: Final = "_s3Overflow"
"""Stands among the properties instead of the free-form ones that were moved to the bucket."""
DELIVERY_RETRIES: Final = 185
"""The number of times that EventBridge tries to deliver an event again: its default.

The default is named because it is not the same for every kind of bus.
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html
"""
DELIVERY_SECONDS: Final = 24 * 60 * 60


class Context(Written):
    source: Literal["system"] = "system"
    environment: str
    origin: str
    worker_id: str | None = None
    trace_id: str | None = None
    """The trace id of the job or task that the event is about."""
    parent_span_id: str | None = None
    """The span of the caller who submitted the job, if the request named one."""


class Event(Written):
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
                number=properties.number,
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
        return body | event_keys(self._identity(), sparse=self.properties.sparse)

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


class ArrivedEvent(Written):
    """An event as a consumer of the bus sees it. Unknown fields are preserved."""

    model_config = Written.model_config | {"extra": "allow"}

    PK: str = Field(alias="PK")
    SK: str = Field(alias="SK")
    entity_id: str
    entity_type: str
    """A value of `EntityType`, as far as this version knows them."""
    tenant_id: str
    event_type: str
    timestamp: int
    properties: dict[str, Any]

    @model_validator(mode="after")
    def _keys_belong_together(self) -> Self:
        if f"TENANT#{self.tenant_id}" != self.PK:
            raise ValueError("PK does not name the event's tenant")
        return self

    @property
    def trace(self) -> Trace | None:
        """Return the trace that the event names, if it names a valid one."""
        said = self._context
        return known_trace(said.get("traceId"), said.get("parentSpanId"))

    @property
    def sender(self) -> str | None:
        """The worker that sent it, if it was one."""
        said = self._context.get("workerId")
        return said if isinstance(said, str) else None

    @property
    def _context(self) -> dict[str, Any]:
        context = (self.model_extra or {}).get("context")
        return context if isinstance(context, dict) else {}

    def record(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


class StoredEvent(Written):
    """An event as the log gives it back. Unknown fields are preserved."""

    model_config = Written.model_config | {"extra": "allow"}

    schema_version: int = SCHEMA_VERSION
    event_id: str
    entity_id: str
    entity_type: str
    tenant_id: str
    event_type: str
    timestamp: int
    properties: dict[str, Any] | None = None
    """The event's properties; `None` in a summary."""

    @property
    def order(self) -> tuple[int, str]:
        """Return the sort key, by which two events of one millisecond have an order too."""
        return self.timestamp, self.event_id


class BusMessage(BaseModel):
    """EventBridge's envelope, of which only the detail is ours."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    detail: ArrivedEvent
