"""Parks messages that cannot be handled, so that they can be sent again once that is mended."""

from dataclasses import dataclass

from switchyard.contracts.messages import Delivered
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.contracts.sqs_records import DeadLetter
from switchyard.ports import BlobStore, Clock


@dataclass(frozen=True, kw_only=True)
class MessageParking:
    """Parks messages of one queue that no retry can help."""

    blobs: BlobStore
    clock: Clock
    queue: str
    """The name of the queue that the messages were sent to."""

    def park(self, message: Delivered, reason: str) -> ParkedMessage:
        """Park a message; a second time writes the same key.

        Raise `Unavailable`: then the message has to be received again.
        """
        parked = ParkedMessage.poison(
            message, reason=reason, queue=self.queue, now_ms=self.clock.now_ms()
        )
        return _saved(parked, self.blobs)


@dataclass(frozen=True, kw_only=True)
class DeadLetterArchive:
    """Parks the messages of dead-letter queues, whatever their bodies are."""

    blobs: BlobStore
    clock: Clock

    def park(self, letter: DeadLetter) -> ParkedMessage:
        """Park a dead letter; a second time writes the same key.

        Raise `Unavailable`: then the message has to be received again.
        """
        return _saved(ParkedMessage.dead_letter(letter, now_ms=self.clock.now_ms()), self.blobs)


def _saved(parked: ParkedMessage, blobs: BlobStore) -> ParkedMessage:
    content = parked.model_dump_json(by_alias=True).encode()
    blobs.put(parked.key, content, content_type="application/json")
    return parked
