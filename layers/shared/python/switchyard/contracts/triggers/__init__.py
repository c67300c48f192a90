"""Triggers: as people declare them, as they are stored, and what travels through their queue."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from switchyard.contracts.jobs import JobAccepted
from switchyard.contracts.wire import CleanText, Closed, JsonValue, Written, instant, refuse_newer
from switchyard.domain.ids import (
    EVENT_ID,
    EVENT_ID_RULE,
    TENANT_ID,
    TENANT_ID_RULE,
    TRIGGER_NAME,
    TRIGGER_NAME_RULE,
)
from switchyard.domain.jobs.limits import MAX_TAGS
from switchyard.domain.triggers.schedules import parse_schedule
from switchyard.domain.triggers.time_zones import next_start_ms, problem_with_time_zone

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


def _time_zone(name: str) -> str:
    problem = problem_with_time_zone(name)
    if problem:
        raise ValueError(problem)
    return name


def _event_word(text: str) -> str:
    if not EVENT_ID.fullmatch(text):
        raise ValueError(f"must be {EVENT_ID_RULE}")
    return text


EventWord = Annotated[str, AfterValidator(_event_word)]
TriggerName = Annotated[str, AfterValidator(_trigger_name)]
TenantName = Annotated[str, AfterValidator(_tenant)]
ScheduleText = Annotated[str, AfterValidator(_schedule)]
TimeZoneName = Annotated[str, AfterValidator(_time_zone)]


LOCAL_TIME: Final = 2
"""The schema of messages for local schedules: releases that know no time zones must not read them,
as they would start a job in every hour."""
MessageSchema = Annotated[Literal[1, 2], BeforeValidator(refuse_newer(LOCAL_TIME))]


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


class TriggerContent(Closed):
    """A job template, and what starts it: either events or a schedule."""

    description: CleanText = Field(default="", max_length=512)
    on: OnEvents | None = None
    schedule: ScheduleText | None = None
    time_zone: TimeZoneName | None = None
    """The time zone of the schedule; UTC when absent."""
    job: dict[str, JsonValue]

    @model_validator(mode="after")
    def _has_one_start(self) -> Self:
        if (self.on is None) == (self.schedule is None):
            raise ValueError("a trigger has either `on` or `schedule`")
        return self

    @model_validator(mode="after")
    def _has_local_time(self) -> Self:
        if self.time_zone and not (self.schedule and self.schedule.startswith("cron(")):
            raise ValueError("only a schedule of cron(…) has a `timeZone`")
        return self

    def named(self, name: str) -> "Trigger":
        """Raise `ValidationError` for what cannot be a name."""
        return Trigger.model_validate({"name": name, **self.model_dump(exclude_unset=True)})


class Trigger(TriggerContent):
    """A trigger and its name, under which its tenant has no other."""

    schema_version: Literal[1] = 1
    name: TriggerName

    @property
    def definitions(self) -> set[str]:
        """Return the definitions that its tasks name, unless an event is to name them."""
        return {name for _, name in self.named_definitions}

    @property
    def named_definitions(self) -> list[tuple[tuple[str | int, ...], str]]:
        """Return the place of each such name in the trigger, and the name."""
        tasks = self.job.get("tasks")
        named = [
            (("job", "tasks", index, "name"), task.get("name"))
            for index, task in enumerate(tasks or ())
            if isinstance(task, dict)
        ]
        return [(at, name) for at, name in named if isinstance(name, str) and "{{" not in name]

    @property
    def channel(self) -> str | None:
        """Return the Slack channel that its jobs name, unless an event is to name it."""
        notify = self.job.get("notify")
        channel = notify.get("channel") if isinstance(notify, dict) else None
        return channel if isinstance(channel, str) and "{{" not in channel else None

    @property
    def bus(self) -> Bus:
        """Return the bus of the trigger's rule; schedules exist on the default bus alone."""
        return self.on.bus if self.on else "default"


class TriggerRun(Written):
    """The result of the last event: a job, or the reason why there is none."""

    at: datetime
    event_id: str
    job_id: str | None = None
    error: str | None = None

    @classmethod
    def of_job(cls, job: JobAccepted, event_id: str) -> Self:
        """Take the time of the job, which is the same however often the event comes."""
        return cls(at=job.created_at, event_id=event_id, job_id=job.job_id)


class AppliedTrigger(Written):
    tenant: str
    trigger: Trigger
    enabled: bool
    since: datetime
    """The time at which it was last applied or enabled: rates count from there."""
    last_run: TriggerRun | None = None

    def next_run_at(self, *, now_ms: int) -> datetime | None:
        """Return when the next job starts; `None` for events, and while it is disabled."""
        schedule, zone = self.trigger.schedule, self.trigger.time_zone
        if schedule is None or not self.enabled:
            return None
        since_ms = round(self.since.timestamp() * 1000)
        return instant(next_start_ms(schedule, zone, after_ms=now_ms, since_ms=since_ms))


class RegisteredTrigger(AppliedTrigger):
    """A trigger as its tenant sees it."""

    next_run: datetime | None = None
    """The time of the schedule's next job; `None` for events, and while it is disabled."""

    @classmethod
    def of(cls, applied: AppliedTrigger, *, now_ms: int) -> Self:
        return cls(**dict(applied), next_run=applied.next_run_at(now_ms=now_ms))


class TriggerList(Written):
    triggers: tuple[RegisteredTrigger, ...]


class FireTrigger(Closed):
    """An event to try a trigger with; EventBridge's own fields may be left out."""

    event: dict[str, JsonValue] | None = None


class TriggerFired(Written):
    tenant: str
    trigger: str
    event_id: str


class BusEvent(BaseModel):
    """The two fields of an EventBridge event that Switchyard needs."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: EventWord
    time: EventWord

    @property
    def moment(self) -> datetime | None:
        """Return the time in UTC, or `None` for a text that is no time."""
        try:
            return datetime.fromisoformat(self.time).astimezone(UTC)
        except ValueError:
            return None


def whole_event(
    given: dict[str, JsonValue] | None, *, event_id: str, now_ms: int, source: str
) -> dict[str, JsonValue]:
    """An event with what EventBridge adds to it, unless `given` says it; `None` is a schedule's."""
    added: dict[str, JsonValue] = {
        "version": "0",
        "id": event_id,
        "detail-type": "Scheduled Event" if given is None else "",
        "source": "aws.events" if given is None else source,
        "account": "",
        "time": f"{instant(now_ms):%Y-%m-%dT%H:%M:%SZ}",
        "region": "",
        "resources": [],
        "detail": {},
    }
    return added | (given or {})


class TriggerMessage(Written):
    """The message that a trigger's rule makes of an event."""

    schema_version: MessageSchema = Field(default=1, alias="schema")
    tenant_id: TenantName
    trigger: TriggerName
    by_hand: bool = False
    """Whether the trigger was fired on request, so that its schedule is not asked."""
    event: dict[str, JsonValue]

    @property
    def envelope(self) -> BusEvent:
        return BusEvent.model_validate(self.event)

    @model_validator(mode="after")
    def _event_is_one(self) -> Self:
        BusEvent.model_validate(self.event)
        return self


class UnreadableMessage(ValueError):
    """A message that no trigger's rule would send, however often it comes."""


def parse_trigger_message(body: str) -> TriggerMessage:
    try:
        return TriggerMessage.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise UnreadableMessage(f"{place}: {first['msg']}") from error


def message_template(
    tenant: str, trigger: str, event: str, *, by_hand: bool = False, local_time: bool = False
) -> str:
    """The message's text around the text of an event."""
    schema = LOCAL_TIME if local_time else 1
    fields: dict[str, object] = {"schema": schema, "tenantId": tenant, "trigger": trigger}
    about = json.dumps(fields | ({"byHand": True} if by_hand else {}))
    return f'{about[:-1]}, "event": {event}}}'
