"""Messages that nobody could handle: as a function gets them, and as they are kept."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from switchyard.contracts.messages import Delivered, MessageAttribute
from switchyard.contracts.wire import SchemaOne, Written
from switchyard.domain.ids import REQUEST_ID, TENANT_ID
from switchyard.domain.text import without_control_characters

KEPT_BELOW: Final = "undeliverable"
UNDELIVERABLE: Final = "Undeliverable"
"""The metric that counts what was kept, by `QUEUE`."""
QUEUE: Final = "queue"

MAX_REASON: Final = 300

_EVENT_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z ]{0,63}")
_DEAD_LETTERS: Final = re.compile(r"-dlq(?=-|$)")
_NOTED_BY_EVENTBRIDGE: Final = ("ERROR_CODE", "ERROR_MESSAGE")
_MOVED_FROM: Final = "DeadLetterQueueSourceArn"


def queue_name(queue_arn: str) -> str:
    return queue_arn.rsplit(":", 1)[-1]


def holds_dead_letters(queue: str) -> bool:
    """Recognise a dead-letter queue by its name, with or without a stage at its end."""
    return bool(_DEAD_LETTERS.search(queue))


def source_queue(dead_letters: str) -> str:
    """Return the name of the queue whose dead letters another one holds."""
    return _DEAD_LETTERS.sub("", dead_letters)


class DeadLetter(BaseModel):
    """A message of a dead-letter queue. Its ids and times are SQS's own, the rest is anybody's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    message_id: str = Field(alias="messageId")
    queue_arn: str = Field(alias="eventSourceARN")
    attributes: dict[str, str]
    message_attributes: dict[str, dict[str, Any]] = Field(alias="messageAttributes")
    body: str

    @property
    def queue(self) -> str:
        return queue_name(self.queue_arn)

    @property
    def sent_at_ms(self) -> int:
        return int(self.attributes["SentTimestamp"])

    @property
    def received_at_ms(self) -> int:
        return int(self.attributes["ApproximateFirstReceiveTimestamp"])

    @property
    def key(self) -> str:
        """Where it is kept: the same place, however often it comes."""
        day = datetime.fromtimestamp(self.sent_at_ms / 1000, tz=UTC).date()
        return f"{KEPT_BELOW}/{self.queue}/{day.isoformat()}/{self.message_id}.json"

    @property
    def reason(self) -> str:
        notes = [self._text_of(name) for name in _NOTED_BY_EVENTBRIDGE]
        noted = one_line(": ".join(filter(None, notes)))
        if noted:
            return noted
        if _MOVED_FROM in self.attributes:
            return f"received in vain from {queue_name(self.attributes[_MOVED_FROM])}"
        return "nobody noted why"

    @property
    def delivered(self) -> Delivered:
        return Delivered(
            body=self.body,
            message_id=self.message_id,
            sent_at_ms=self.sent_at_ms,
            attributes={
                name: MessageAttribute.model_validate(found)
                for name, found in self.message_attributes.items()
            },
        )

    def _text_of(self, attribute: str) -> str:
        return self.message_attributes.get(attribute, {}).get("stringValue") or ""


class KeptLetter(Written):
    """All that is needed to send it again. Times are in milliseconds."""

    schema_version: SchemaOne = 1
    queue_arn: str
    message_id: str
    sent_at: int
    received_at: int
    kept_at: int
    attributes: dict[str, str]
    message_attributes: dict[str, dict[str, Any]]
    body: str


def _if_it_is(pattern: re.Pattern[str]) -> Callable[[Any], str | None]:
    def named(value: Any) -> str | None:
        return value if isinstance(value, str) and pattern.fullmatch(value) else None

    return named


class Subject(BaseModel):
    """Which event a body tells, in names that are safe to log."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event_type: Annotated[str, BeforeValidator(_if_it_is(_EVENT_TYPE))] = Field(alias="eventType")
    entity_id: Annotated[str | None, BeforeValidator(_if_it_is(REQUEST_ID))] = Field(
        default=None, alias="entityId"
    )
    tenant_id: Annotated[str | None, BeforeValidator(_if_it_is(TENANT_ID))] = Field(
        default=None, alias="tenantId"
    )


class _Envelope(BaseModel):
    detail: Subject


def subject_of(body: str) -> Subject | None:
    """What the body is about; `None` if it is not an event, or not one that can be read."""
    try:
        return _Envelope.model_validate_json(body).detail
    except ValidationError:
        return None


def one_line(text: str) -> str:
    return " ".join(without_control_characters(text).split())[:MAX_REASON]
