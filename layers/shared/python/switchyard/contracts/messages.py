"""Messages of the task queue: wake-ups of ours, and whole tasks of other producers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from switchyard.contracts.wire import DefinitionName, JsonValue, SchemaOne, Written
from switchyard.domain.ids import ANY_TASK_ID, GROUP_NAME, TENANT_ID, TaskRef, task_named
from switchyard.domain.jobs.adoption import Adoptable, decide_adoption
from switchyard.domain.measuring.spans import TRACEPARENT, TraceParent, waking_context
from switchyard.domain.scheduling.groups import DEFAULT_GROUP, group_of_task
from switchyard.domain.tasks.task import Json, Task

SCHEMA_VERSION: Final = 1
REQUEST_ID_ATTRIBUTE: Final = "requestId"
GROUP_ATTRIBUTE: Final = "group"
MAX_BODY_BYTES: Final = 1024 * 1024  # SQS's own limit

M = TypeVar("M", bound=BaseModel)


class MessageAttribute(BaseModel):
    """A message attribute as Lambda delivers it; a binary value is in base64."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )

    data_type: str
    string_value: str | None = None
    binary_value: str | None = None


Attributes = Mapping[str, MessageAttribute]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A message as a queue brought it. Its id and its time are SQS's own, the rest is anybody's."""

    body: str
    message_id: str
    sent_at_ms: int
    attributes: Attributes = field(default_factory=dict)


class TaskMessage(Written):
    """A wake-up for a worker. That of a bare task names it by its `~…` instead of a job."""

    schema_version: SchemaOne = Field(default=SCHEMA_VERSION, alias="schema")
    tenant_id: str = Field(pattern=TENANT_ID.pattern)
    job_id: str
    task_id: str = Field(pattern=ANY_TASK_ID.pattern)
    request_id: str
    run: int = Field(ge=1)
    _traceparent: str | None = PrivateAttr(default=None)
    """The trace context, sent as an attribute: older versions read the message too."""
    _group: str = PrivateAttr(default=DEFAULT_GROUP)
    """The group of the task's queue, sent as an attribute."""

    @classmethod
    def waking(cls, task: Task) -> Self:
        message = cls.to(task.ref, run=task.run, group=group_of_task(task))
        message._traceparent = waking_context(task)
        return message

    @classmethod
    def to(cls, ref: TaskRef, *, run: int, group: str = DEFAULT_GROUP) -> Self:
        message = cls(
            tenant_id=ref.tenant,
            job_id=ref.job_id,
            task_id=ref.task_id,
            request_id=ref.request_id,
            run=run,
        )
        message._group = group
        return message

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        if not TENANT_ID.fullmatch(self.tenant_id):
            raise ValueError("tenantId has characters that ids cannot have")
        if task_named(self.tenant_id, self.request_id) != self.ref:
            raise ValueError("requestId does not name this job and task")
        return self

    @property
    def ref(self) -> TaskRef:
        return TaskRef(self.tenant_id, self.job_id, self.task_id)

    @property
    def group(self) -> str:
        """The group whose pools are woken by it."""
        return self._group

    @property
    def attributes(self) -> dict[str, MessageAttribute]:
        """Return the attributes that the message is sent with."""
        said = {
            REQUEST_ID_ATTRIBUTE: self.request_id,
            TRACEPARENT: self._traceparent,
            GROUP_ATTRIBUTE: self._group,
        }
        return {
            name: MessageAttribute(data_type="String", string_value=value)
            for name, value in said.items()
            if value is not None
        }


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """Another producer's message, which may be adopted: it carries all there is of its task."""

    ref: TaskRef
    name: str
    input: Json
    context: Mapping[str, Json]
    """The outputs of the tasks that its producer let it wait for."""
    trace: str | None = None
    """The `traceparent` that it came with, if any."""


class Malformed(ValueError):
    """A message that can never be understood, however often it comes."""


def parse_message(message: Delivered, *, tenant: str | None) -> TaskMessage | ForeignTask:
    """Read a message; one without a schema is a task of `tenant`, refused if that is `None`."""
    document = _document(message.body)
    if "schema" in document:
        found = _valid(TaskMessage, document)
        found._group = group_in(message) or DEFAULT_GROUP
        return found
    if tenant is None:
        raise Malformed("schema: not a message of ours, and others' are not taken in here")
    return _foreign(document, message.attributes, tenant)


def group_in(message: Delivered) -> str | None:
    """Return the group that a message was sent for; `None` if no attribute of it says so."""
    attribute = message.attributes.get(GROUP_ATTRIBUTE)
    found = attribute.string_value if attribute else None
    return found if found and GROUP_NAME.fullmatch(found) else None


def wake_up_in(message: Delivered) -> TaskMessage | None:
    """Return a wake-up of ours as it was sent; `None` if it is no such message."""
    try:
        found = parse_message(message, tenant=None)
    except Malformed:
        return None
    if not isinstance(found, TaskMessage):
        return None
    found._traceparent = _trace(message.attributes)
    return found


def _task_id(name: str) -> str:
    if not ANY_TASK_ID.fullmatch(name):
        raise ValueError("is not a task id")
    return name


class _ForeignBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)

    name: DefinitionName
    input: JsonValue = None
    dependency_outputs: dict[Annotated[str, AfterValidator(_task_id)], JsonValue] = {}
    request_id: str | None = None
    job_id: str | None = None
    task_id: str | None = None


def _foreign(
    document: Mapping[str, Json], attributes: Attributes, tenant: str
) -> TaskMessage | ForeignTask:
    body = _valid(_ForeignBody, document)
    request_id = _request_id(body, attributes)
    decision = decide_adoption(request_id, document, tenant=tenant)
    if isinstance(decision, Adoptable):
        trace = _trace(attributes)
        return ForeignTask(decision.ref, body.name, body.input, body.dependency_outputs, trace)
    if request_id != f"{body.job_id}__{body.task_id}":
        raise Malformed(f"requestId: {decision.reason}")
    wake_up = {"tenantId": tenant, "jobId": body.job_id, "taskId": body.task_id, "run": 1}
    return _valid(TaskMessage, wake_up | {"requestId": request_id})


def _request_id(body: _ForeignBody, attributes: Attributes) -> str:
    attribute = attributes.get(REQUEST_ID_ATTRIBUTE)
    said = {body.request_id, attribute.string_value if attribute else None} - {None}
    if len(said) != 1:
        found = "missing" if not said else "the attribute and the body name two"
        raise Malformed(f"requestId: {found}")
    return str(said.pop())


def _trace(attributes: Attributes) -> str | None:
    attribute = attributes.get(TRACEPARENT)
    given = TraceParent.parse(attribute.string_value) if attribute else None
    return str(given) if given else None


def _document(body: str) -> dict[str, Json]:
    size = len(body.encode())
    if size > MAX_BODY_BYTES:
        raise Malformed(f"body: {size:,} bytes; at most {MAX_BODY_BYTES:,} are read")
    try:
        document: Any = from_json(body)
    except ValueError as error:
        raise Malformed(f"body: {error}") from error
    if not isinstance(document, dict):
        raise Malformed("body: is not a JSON object")
    return document


def _valid(model: type[M], document: Mapping[str, Json]) -> M:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise Malformed(f"{place}: {first['msg']}") from error
