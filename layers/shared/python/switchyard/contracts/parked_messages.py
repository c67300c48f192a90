"""Messages that no function and no worker could handle, as they are stored in the bucket.

A message is parked whole, below `parked/`. Version 0.1.0 stored such messages below `quarantine/`
and `undeliverable/`, each in a form of its own; `read_parked` reads all three.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from switchyard.contracts.messages import Attributes, Delivered, MessageAttribute
from switchyard.contracts.sqs_records import DeadLetter, one_line
from switchyard.contracts.wire import SchemaOne, Written, instant
from switchyard.domain.errors import NewerVersion, UnknownParkedMessage
from switchyard.domain.ids import REQUEST_ID, TENANT_ID

PARKED_PREFIX: Final = "parked/"
QUARANTINE_PREFIX: Final = "quarantine/"
"""Version 0.1.0 parked messages of the task and trigger queues here, in one folder for all."""
UNDELIVERABLE_PREFIX: Final = "undeliverable/"
"""Version 0.1.0 parked messages of dead-letter queues here, in a folder for each queue."""
PARKED_PREFIXES: Final = (PARKED_PREFIX, QUARANTINE_PREFIX, UNDELIVERABLE_PREFIX)

POISON_METRIC: Final = "Quarantined"
"""Counts messages of the task queue that can never be handled. The name is from version 0.1.0."""
DEAD_LETTER_METRIC: Final = "Undeliverable"
"""Counts archived dead letters, by `QUEUE`. The name is from version 0.1.0."""
QUEUE: Final = "queue"
PARKED_LOG: Final = "message parked"
"""The worker's log message for a message that it parked; a metric filter counts it."""
LEFT_TO_NEWER_LOG: Final = "message is left to a newer version"
"""The worker's log message for a message that it made visible again; a metric filter counts it."""

_NOTED_BY_EVENTBRIDGE: Final = frozenset(
    {
        "TARGET_ARN",
        "RULE_ARN",
        "ERROR_CODE",
        "ERROR_MESSAGE",
        "EXHAUSTED_RETRY_CONDITION",
        "RETRY_ATTEMPTS",
    }
)
"""Attributes that describe a failed delivery and are no part of the message."""


class ParkedMessage(Written):
    """A parked message, with everything that is needed to understand it and to send it again."""

    schema_version: SchemaOne = 1
    id: str
    """SQS's id of the message."""
    key: str
    """The key of the object in the bucket."""
    queue: str
    """The queue that it was received from."""
    send_to: str
    """The queue that it was meant for."""
    reason: str
    sent_at: datetime
    parked_at: datetime
    message_attributes: dict[str, MessageAttribute]
    attributes: Mapping[str, str] = Field(default_factory=dict)
    """The attributes that SQS itself set, of a dead letter."""
    body: str

    @classmethod
    def poison(cls, message: Delivered, *, reason: str, queue: str, now_ms: int) -> Self:
        """Park a message that can never be handled, under the queue that it was sent to.

        The key is the same whether a worker or the dead-letter processor parks it.
        """
        return cls(
            id=message.message_id,
            key=_key(queue, message),
            queue=queue,
            send_to=queue,
            reason=one_line(reason),
            sent_at=instant(message.sent_at_ms),
            parked_at=instant(now_ms),
            message_attributes=dict(message.attributes),
            body=message.body,
        )

    @classmethod
    def dead_letter(cls, letter: DeadLetter, *, now_ms: int) -> Self:
        """Park a dead letter, under its dead-letter queue."""
        message = letter.delivered
        return cls(
            id=message.message_id,
            key=_key(letter.queue, message),
            queue=letter.queue,
            send_to=letter.meant_for,
            reason=letter.reason,
            sent_at=instant(message.sent_at_ms),
            parked_at=instant(now_ms),
            message_attributes=dict(message.attributes),
            attributes=letter.attributes,
            body=message.body,
        )

    @property
    def own_attributes(self) -> Attributes:
        """The attributes that the message had when it was sent."""
        found = self.message_attributes.items()
        return {name: value for name, value in found if name not in _NOTED_BY_EVENTBRIDGE}


class UnreadableObject(Written):
    """An object among the parked messages that cannot be read as one."""

    id: str
    """The last part of its key."""
    key: str
    parked_at: datetime
    """The time at which the bucket received it."""
    unreadable: str
    """The reason why the object cannot be read, and its key."""


def _key(queue: str, message: Delivered) -> str:
    """Return the same key for the same message, however often it is parked."""
    day = datetime.fromtimestamp(message.sent_at_ms / 1000, tz=UTC).date()
    return f"{PARKED_PREFIX}{queue}/{day.isoformat()}/{message.message_id}.json"


# An object that someone else wrote can break any step: a time, a number, an attribute.
_BREAKS: Final = (ArithmeticError, LookupError, OSError, TypeError, ValueError)


def read_parked(key: str, content: bytes) -> ParkedMessage:
    """Read an object of any of the prefixes.

    Raise `UnknownParkedMessage` for an object that is not a parked message.
    """
    try:
        return _read(key, from_json(content))
    except NewerVersion as error:
        raise UnknownParkedMessage(f"in the bucket, {key} cannot be read: {error}") from error
    except _BREAKS as error:
        raise UnknownParkedMessage(f"in the bucket, {key} is not a parked message") from error


def _read(key: str, document: Mapping[str, Any]) -> ParkedMessage:
    if key.startswith(QUARANTINE_PREFIX):
        return _QuarantinedBy010.model_validate(document).parked(key)
    if key.startswith(UNDELIVERABLE_PREFIX):
        return _UndeliverableBy010.model_validate(document).parked(key)
    return ParkedMessage.model_validate({**document, "key": key})


class _QuarantinedBy010(Written):
    """The form of version 0.1.0 below `quarantine/`. Times are in milliseconds."""

    schema_version: SchemaOne = 1
    reason: str
    queue: str
    message_id: str
    sent_at: int
    kept_at: int
    message_attributes: dict[str, MessageAttribute]
    body: str

    def parked(self, key: str) -> ParkedMessage:
        return ParkedMessage(
            id=self.message_id,
            key=key,
            queue=self.queue,
            send_to=self.queue,
            reason=self.reason,
            sent_at=instant(self.sent_at),
            parked_at=instant(self.kept_at),
            message_attributes=self.message_attributes,
            body=self.body,
        )


class _UndeliverableBy010(Written):
    """The form of version 0.1.0 below `undeliverable/`. Times are in milliseconds."""

    schema_version: SchemaOne = 1
    queue_arn: str
    message_id: str
    sent_at: int
    kept_at: int
    attributes: dict[str, str]
    message_attributes: dict[str, dict[str, Any]]
    body: str

    def parked(self, key: str) -> ParkedMessage:
        fields = {**self.model_dump(by_alias=True), "eventSourceARN": self.queue_arn}
        parked = ParkedMessage.dead_letter(DeadLetter.model_validate(fields), now_ms=self.kept_at)
        return parked.model_copy(update={"key": key, "sent_at": instant(self.sent_at)})


def _if_it_is(pattern: re.Pattern[str]) -> Callable[[Any], str | None]:
    def named(value: Any) -> str | None:
        return value if isinstance(value, str) and pattern.fullmatch(value) else None

    return named


_EVENT_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z ]{0,63}")


class EventNames(BaseModel):
    """The names in an event's body that are safe to log."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event_type: Annotated[str, BeforeValidator(_if_it_is(_EVENT_TYPE))] = Field(alias="eventType")
    entity_id: Annotated[str | None, BeforeValidator(_if_it_is(REQUEST_ID))] = Field(
        default=None, alias="entityId"
    )
    tenant_id: Annotated[str | None, BeforeValidator(_if_it_is(TENANT_ID))] = Field(
        default=None, alias="tenantId"
    )


class _Envelope(BaseModel):
    detail: EventNames


def event_in(body: str) -> EventNames | None:
    """Return the names of the event in a message; `None` if the body is not a readable event."""
    try:
        return _Envelope.model_validate_json(body).detail
    except ValidationError:
        return None
