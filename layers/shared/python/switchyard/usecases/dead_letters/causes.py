"""Groups parked messages by their cause: people mend causes, not messages."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from switchyard.contracts.parked_messages import ParkedMessage, UnreadableObject
from switchyard.contracts.wire import Written
from switchyard.domain.causes import cause_of, code_of
from switchyard.domain.errors import UnknownParkedMessage

UNREADABLE = "cannot be read"


class Cause(Written):
    code: str
    """The name of the cause for `redrive --cause`."""
    queue: str
    cause: str
    count: int
    oldest: datetime
    """The time at which the oldest message was parked."""
    newest: datetime
    """The time at which the newest message was parked."""
    example: str
    """The id of the newest message."""


def by_cause(messages: Iterable[ParkedMessage | UnreadableObject]) -> list[Cause]:
    """Group the messages, the most frequent cause first."""
    groups: dict[tuple[str, str], list[ParkedMessage | UnreadableObject]] = {}
    for message in messages:
        groups.setdefault(_group_of(message), []).append(message)
    return sorted((_cause(*name, found) for name, found in groups.items()), key=_frequency)


def of_cause(
    messages: Iterable[ParkedMessage | UnreadableObject], code: str
) -> list[ParkedMessage]:
    """Select the messages of a cause that can be sent again, the oldest first.

    Raise `UnknownParkedMessage` if there are none.
    """
    chosen = [
        message
        for message in messages
        if isinstance(message, ParkedMessage) and code_of(*_group_of(message)) == code
    ]
    if not chosen:
        raise UnknownParkedMessage(f"no message is parked for the cause {code!r}")
    return sorted(chosen, key=lambda message: message.parked_at)


def _group_of(message: ParkedMessage | UnreadableObject) -> tuple[str, str]:
    if isinstance(message, UnreadableObject):
        return "", UNREADABLE
    return message.queue, cause_of(message.reason)


def _cause(queue: str, cause: str, found: Sequence[ParkedMessage | UnreadableObject]) -> Cause:
    newest = max(found, key=lambda message: message.parked_at)
    return Cause(
        code=code_of(queue, cause),
        queue=queue,
        cause=cause,
        count=len(found),
        oldest=min(message.parked_at for message in found),
        newest=newest.parked_at,
        example=newest.id,
    )


def _frequency(cause: Cause) -> tuple[int, str, str]:
    return -cause.count, cause.queue, cause.cause
