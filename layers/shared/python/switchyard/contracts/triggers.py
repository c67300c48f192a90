"""Triggers: as people declare them, as they are kept, and what travels through their queue."""

import json
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from switchyard.contracts.jobs import MAX_TAGS, JobAccepted
from switchyard.contracts.wire import CleanText, Closed, JsonValue, SchemaOne, Written
from switchyard.domain.ids import (
    EVENT_ID,
    EVENT_ID_RULE,
    TENANT_ID,
    TENANT_ID_RULE,
    TRIGGER_NAME,
    TRIGGER_NAME_RULE,
)
from switchyard.domain.triggers.schedules import parse_schedule

Bus = Literal["switchyard", "default"]
BUSES: Final[tuple[Bus, ...]] = get_args(Bus)

FIRED: Final = "TriggersFired"
REFUSED: Final = "TriggersRefused"
"""Metrics: events that started a job, and those that could not."""
OWN_TAGS: Final = 2
MAX_TEMPLATE_TAGS: Final = MAX_TAGS - OWN_TAGS


def _trigger_name(name: str) -> str:
    if not TRIGGER_NAME.fullmatch(name):
        raise ValueError(f"must be {TRIGGER_NAME_RULE}")
    return name


def _tenant(name: str) -> str:
    if not TENANT_ID.fullmatch(name):
        raise ValueError(f"must be {TENANT_ID_RULE}")
    return name


def _schedule(text: str) -> str:
    parse_schedule(text)
    return text


def _event_word(text: str) -> str:
    if not EVENT_ID.fullmatch(text):
        raise ValueError(f"must be {EVENT_ID_RULE}")
    return text


EventWord = Annotated[str, AfterValidator(_event_word)]
TriggerName = Annotated[str, AfterValidator(_trigger_name)]
TenantName = Annotated[str, AfterValidator(_tenant)]
ScheduleText = Annotated[str, AfterValidator(_schedule)]


class OnEvents(Closed):
    bus: Bus
    pattern: dict[str, JsonValue]
    chained: bool = False
    """Whether events of jobs that triggers started count as well."""

    @model_validator(mode="after")
    def _chains_jobs(self) -> Self:
        if self.chained and self.bus != "switchyard":
            raise ValueError("only events of the switchyard bus are of jobs: no others are chained")
        return self


class Trigger(Closed):
    """A job template, and what starts it: either events or a schedule."""

    schema_version: Literal[1] = 1
    name: TriggerName
    description: CleanText = Field(default="", max_length=512)
    on: OnEvents | None = None
    schedule: ScheduleText | None = None
    job: dict[str, JsonValue]

    @model_validator(mode="after")
    def _has_one_start(self) -> Self:
        if (self.on is None) == (self.schedule is None):
            raise ValueError("a trigger has either `on` or `schedule`")
        return self

    @property
    def definitions(self) -> set[str]:
        """Those that its tasks name; one that an event is to name is not known yet."""
        tasks = self.job.get("tasks")
        named = [task.get("name") for task in tasks if isinstance(task, dict)] if tasks else []
        return {name for name in named if isinstance(name, str)}

    @property
    def bus(self) -> Bus:
        """Where its rule is; schedules are kept on the default bus alone."""
        return self.on.bus if self.on else "default"


class TriggerRun(Written):
    """What became of the last event: a job, or the reason why there is none."""

    at: datetime
    event_id: str
    job_id: str | None = None
    error: str | None = None

    @classmethod
    def of_job(cls, job: JobAccepted, event_id: str) -> Self:
        """At the time of the job, which is the same however often the event comes."""
        return cls(at=job.created_at, event_id=event_id, job_id=job.job_id)


class AppliedTrigger(Written):
    tenant: str
    trigger: Trigger
    enabled: bool
    since: datetime
    """When it was last applied or enabled: rates count from there."""
    last_run: TriggerRun | None = None


class BusEvent(BaseModel):
    """What EventBridge says of every event, of which we need two things."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: EventWord
    time: EventWord


class TriggerMessage(Written):
    """What a trigger's rule makes of an event."""

    schema_version: SchemaOne = Field(default=1, alias="schema")
    tenant_id: TenantName
    trigger: TriggerName
    event: dict[str, JsonValue]

    @property
    def envelope(self) -> BusEvent:
        return BusEvent.model_validate(self.event)

    @model_validator(mode="after")
    def _event_is_one(self) -> Self:
        BusEvent.model_validate(self.event)
        return self


class UnreadableMessage(ValueError):
    """Nothing that a trigger's rule would send, however often it comes."""


def parse_trigger_message(body: str) -> TriggerMessage:
    try:
        return TriggerMessage.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise UnreadableMessage(f"{place}: {first['msg']}") from error


def message_template(tenant: str, trigger: str, event: str) -> str:
    """The message's text around the text of an event."""
    about = json.dumps({"schema": 1, "tenantId": tenant, "trigger": trigger})
    return f'{about[:-1]}, "event": {event}}}'
