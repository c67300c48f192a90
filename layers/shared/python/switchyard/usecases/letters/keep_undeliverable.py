"""Keeps what nobody could handle, so that it can be sent again when its cause is mended."""

from dataclasses import dataclass

from switchyard.contracts.undeliverable import DeadLetter, KeptLetter, Subject, subject_of
from switchyard.ports import BlobStore, Clock


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """What a person has to know of it; `subject` is `None` if the body is not an event."""

    queue: str
    reason: str
    subject: Subject | None
    key: str


@dataclass(frozen=True, kw_only=True)
class UndeliverableKeeper:
    blobs: BlobStore
    clock: Clock

    def keep(self, letter: DeadLetter) -> Undeliverable:
        """Keep it first, then say what it is: whatever the body, it is kept whole.

        A second time lands on the same key. Raise `Unavailable`: then it has to come back.
        """
        kept = KeptLetter(
            queue_arn=letter.queue_arn,
            message_id=letter.message_id,
            sent_at=letter.sent_at_ms,
            received_at=letter.received_at_ms,
            kept_at=self.clock.now_ms(),
            attributes=letter.attributes,
            message_attributes=letter.message_attributes,
            body=letter.body,
        )
        content = kept.model_dump_json(by_alias=True).encode()
        self.blobs.put(letter.key, content, content_type="application/json")
        return Undeliverable(letter.queue, letter.reason, subject_of(letter.body), letter.key)
