"""Messages of SQS as Lambda passes them to a function, and the names of their queues."""

import re
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from switchyard.contracts.messages import Delivered, MessageAttribute
from switchyard.domain.text import without_control_characters

MAX_REASON: Final = 300

_DEAD_LETTERS: Final = re.compile(r"-dlq(?=-|$)")
_NOTED_BY_EVENTBRIDGE: Final = ("ERROR_CODE", "ERROR_MESSAGE")
_TARGET: Final = "TARGET_ARN"
_MOVED_FROM: Final = "DeadLetterQueueSourceArn"


def queue_name(queue_arn: str) -> str:
    return queue_arn.rsplit(":", 1)[-1]


def holds_dead_letters(queue: str) -> bool:
    """Recognise a dead-letter queue by its name, with or without a stage at its end."""
    return bool(_DEAD_LETTERS.search(queue))


def source_queue(dead_letters: str) -> str:
    """Return the name of the queue whose dead letters another one holds."""
    return _DEAD_LETTERS.sub("", dead_letters)


class SqsRecord(BaseModel):
    """A message of any queue. SQS sets its ids and times; the sender sets everything else."""

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
    def delivered(self) -> Delivered:
        return Delivered(
            body=self.body,
            message_id=self.message_id,
            sent_at_ms=int(self.attributes["SentTimestamp"]),
            attributes={
                name: MessageAttribute.model_validate(found)
                for name, found in self.message_attributes.items()
            },
        )


class DeadLetter(SqsRecord):
    """A message of a dead-letter queue, with what SQS or EventBridge noted about its failure."""

    @property
    def reason(self) -> str:
        notes = [self._text_of(name) for name in _NOTED_BY_EVENTBRIDGE]
        noted = one_line(": ".join(filter(None, notes)))
        if noted:
            return noted
        if _MOVED_FROM in self.attributes:
            return f"received in vain from {queue_name(self.attributes[_MOVED_FROM])}"
        return "no reason was noted"

    @property
    def meant_for(self) -> str:
        """Name the target that EventBridge noted, or the queue whose dead letters these are."""
        target = self._text_of(_TARGET)
        return queue_name(target) if target else source_queue(self.queue)

    def _text_of(self, attribute: str) -> str:
        return self.message_attributes.get(attribute, {}).get("stringValue") or ""


def one_line(text: str) -> str:
    """Return the text of a reason on one line, cut to `MAX_REASON` characters."""
    return " ".join(without_control_characters(text).split())[:MAX_REASON]
