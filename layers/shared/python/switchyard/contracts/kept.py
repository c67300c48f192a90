"""What is kept because nobody could handle it, wherever it is kept, as a person sees it."""

from datetime import datetime
from typing import Final

from switchyard.contracts.jobs import instant
from switchyard.contracts.messages import Attributes, MessageAttribute
from switchyard.contracts.quarantine import QUARANTINED_BELOW, QuarantinedMessage
from switchyard.contracts.undeliverable import (
    KEPT_BELOW,
    DeadLetter,
    KeptLetter,
    queue_name,
    source_queue,
)
from switchyard.contracts.wire import Written
from switchyard.domain.errors import NewerVersion, UnknownLetter

PLACES: Final = (f"{QUARANTINED_BELOW}/", f"{KEPT_BELOW}/")

_TARGET: Final = "TARGET_ARN"
_NOTED_BY_EVENTBRIDGE: Final = frozenset(
    {
        _TARGET,
        "RULE_ARN",
        "ERROR_CODE",
        "ERROR_MESSAGE",
        "EXHAUSTED_RETRY_CONDITION",
        "RETRY_ATTEMPTS",
    }
)
"""About the failed delivery; they are no part of the message."""


class Kept(Written):
    id: str
    """SQS's id of the message."""
    key: str
    queue: str
    """Where it was found."""
    send_to: str
    """The queue that it was meant for."""
    reason: str
    sent_at: datetime
    kept_at: datetime
    message_attributes: dict[str, MessageAttribute]
    body: str

    @property
    def own_attributes(self) -> Attributes:
        """Those that it had when it was sent."""
        found = self.message_attributes.items()
        return {name: value for name, value in found if name not in _NOTED_BY_EVENTBRIDGE}


class Unreadable(Written):
    """What lies among them, and cannot be shown."""

    id: str
    """By its key."""
    key: str
    kept_at: datetime
    """By the bucket."""
    unreadable: str
    """Why, and where it lies."""


# A letter from another hand can break any step that reads it: a time, a number, an attribute.
_BREAKS: Final = (ArithmeticError, LookupError, OSError, TypeError, ValueError)


def kept_at(key: str, content: bytes) -> Kept:
    """Raise `UnknownLetter` for what was not written by us."""
    try:
        if key.startswith(PLACES[0]):
            return _quarantined(key, QuarantinedMessage.model_validate_json(content))
        return _undeliverable(key, KeptLetter.model_validate_json(content))
    except NewerVersion as error:
        raise UnknownLetter(f"in the bucket, {key} cannot be read: {error}") from error
    except _BREAKS as error:
        raise UnknownLetter(f"in the bucket, {key} is no message that was kept") from error


def _quarantined(key: str, message: QuarantinedMessage) -> Kept:
    return Kept(
        id=message.message_id,
        key=key,
        queue=message.queue,
        send_to=message.queue,
        reason=message.reason,
        sent_at=instant(message.sent_at),
        kept_at=instant(message.kept_at),
        message_attributes=message.message_attributes,
        body=message.body,
    )


def _undeliverable(key: str, kept: KeptLetter) -> Kept:
    letter = DeadLetter.model_validate(
        {**kept.model_dump(by_alias=True), "eventSourceARN": kept.queue_arn}
    )
    return Kept(
        id=letter.message_id,
        key=key,
        queue=letter.queue,
        send_to=_meant_for(letter),
        reason=letter.reason,
        sent_at=instant(kept.sent_at),
        kept_at=instant(kept.kept_at),
        message_attributes=dict(letter.delivered.attributes),
        body=letter.body,
    )


def _meant_for(letter: DeadLetter) -> str:
    """The target that EventBridge noted; else the queue whose dead letters these are."""
    target = letter.delivered.attributes.get(_TARGET)
    if target and target.string_value:
        return queue_name(target.string_value)
    return source_queue(letter.queue)
