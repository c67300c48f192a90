"""Messages of the task queue that can never be handled, as they are kept."""

from datetime import UTC, datetime
from typing import Final, Self

from switchyard.contracts.messages import Delivered, MessageAttribute
from switchyard.contracts.undeliverable import one_line
from switchyard.contracts.wire import SchemaOne, Written

QUARANTINED_BELOW: Final = "quarantine"
QUARANTINED: Final = "Quarantined"
"""The metric that counts what was put aside."""
LEFT_TO_NEWER: Final = "message is left to a newer version"
"""What the worker's log says of a message that it gave back, by which it is counted."""
PUT_ASIDE: Final = "message is put aside"
"""What the worker's log says of it, by which it is counted."""


class QuarantinedMessage(Written):
    """All that is needed to send it again. Times are in milliseconds."""

    schema_version: SchemaOne = 1
    reason: str
    queue: str
    """The name of the queue that it was sent to."""
    message_id: str
    sent_at: int
    kept_at: int
    message_attributes: dict[str, MessageAttribute]
    body: str

    @classmethod
    def of(cls, message: Delivered, *, reason: str, queue: str, kept_at: int) -> Self:
        return cls(
            reason=one_line(reason),
            queue=queue,
            message_id=message.message_id,
            sent_at=message.sent_at_ms,
            kept_at=kept_at,
            message_attributes=dict(message.attributes),
            body=message.body,
        )

    @property
    def key(self) -> str:
        """The same place, however often and from whichever queue it comes."""
        day = datetime.fromtimestamp(self.sent_at / 1000, tz=UTC).date()
        return f"{QUARANTINED_BELOW}/{day.isoformat()}/{self.message_id}.json"
