"""Puts aside what can never be handled, whole, so that a person can mend it and send it again."""

from dataclasses import dataclass

from switchyard.contracts.messages import Delivered
from switchyard.contracts.quarantine import QuarantinedMessage
from switchyard.ports import BlobStore, Clock


@dataclass(frozen=True, kw_only=True)
class Quarantine:
    blobs: BlobStore
    clock: Clock
    queue: str
    """The name of the queue that its messages were sent to."""

    def keep(self, message: Delivered, reason: str) -> QuarantinedMessage:
        """A second time lands on the same key. Raise `Unavailable`: then it has to come back."""
        kept = QuarantinedMessage.of(
            message, reason=reason, queue=self.queue, kept_at=self.clock.now_ms()
        )
        content = kept.model_dump_json(by_alias=True).encode()
        self.blobs.put(kept.key, content, content_type="application/json")
        return kept
