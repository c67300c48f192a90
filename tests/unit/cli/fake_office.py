"""What a stage keeps because nobody could handle it, in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from local.endpoint import Endpoint
from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.transport import MemoryBlobStore, MemoryMail, MemoryTaskQueue
from switchyard.adapters.memory.yard import MemoryYard
from switchyard.contracts.messages import Attributes, Delivered, MessageAttribute
from switchyard.contracts.quarantine import QuarantinedMessage
from switchyard.contracts.undeliverable import KeptLetter
from switchyard.domain.errors import Unavailable
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.watch_letter import LetterWatch
from tests.unit.cli.fakes import NOW_MS

MINUTE_MS = 60_000
ARN = "arn:aws:sqs:eu-central-1:123456789012"


class BusyClock(ManualClock):
    """While one sleeps, something happens."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.meanwhile()


class FakeOffice:
    def __init__(self) -> None:
        self.blobs = MemoryBlobStore()
        self.queues = {
            name: MemoryTaskQueue(ManualClock())
            for name in (
                "switchyard-local-task-queue",
                "switchyard-local-event-queue",
                "switchyard-local-dispatch-queue",
            )
        }
        self.clock = BusyClock(NOW_MS)
        self.yard = MemoryYard(self.clock)
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[KeptLetters]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield KeptLetters(blobs=self.blobs, mail=MemoryMail(self.queues))

    @contextmanager
    def watched(self, stage: str, local: Endpoint | None) -> Iterator[LetterWatch]:
        with self(stage, local) as letters:
            yield LetterWatch(
                letters=letters,
                graph=self.yard.graph,
                log=self.yard.reader,
                adopting_tenant="acme",
                clock=self.clock,
            )

    def sent(self, queue: str) -> list[tuple[str, Attributes]]:
        """And forgotten."""
        received = self.queues[queue].receive(at_most=9, wait_seconds=0, visibility_seconds=99)
        return [(message.body, message.attributes) for message in received]

    @property
    def sent_nothing(self) -> bool:
        return not any(queue.waiting for queue in self.queues.values())

    def quarantine(
        self,
        message_id: str,
        body: str = "no JSON",
        *,
        reason: str = "body: no",
        minutes: int = 5,
        waited: int = 0,
    ) -> str:
        """Kept so many minutes ago, after it had waited so many."""
        colour = MessageAttribute(data_type="String", string_value="blue")
        kept_at_ms = NOW_MS - minutes * MINUTE_MS
        sent_at_ms = kept_at_ms - waited * MINUTE_MS
        delivered = Delivered(
            body=body, message_id=message_id, sent_at_ms=sent_at_ms, attributes={"colour": colour}
        )
        kept = QuarantinedMessage.of(
            delivered, reason=reason, queue="switchyard-local-task-queue", kept_at=kept_at_ms
        )
        return self._put(kept.key, kept)

    def undeliverable(
        self,
        message_id: str,
        *,
        queue: str = "switchyard-local-event-queue-dlq",
        body: str = '{"detail": {}}',
        **noted: str,
    ) -> str:
        attributes = {
            name: {"stringValue": value, "stringListValues": [], "dataType": "String"}
            for name, value in noted.items()
        }
        kept = KeptLetter(
            queue_arn=f"{ARN}:{queue}",
            message_id=message_id,
            sent_at=NOW_MS - 86_400_000,
            received_at=NOW_MS - 86_400_000,
            kept_at=NOW_MS - 86_400_000,
            attributes={"SentTimestamp": str(NOW_MS - 86_400_000)},
            message_attributes=attributes,
            body=body,
        )
        return self._put(f"undeliverable/{queue}/2027-01-14/{message_id}.json", kept)

    def _put(self, key: str, kept: Any) -> str:
        self.blobs.put(key, kept.model_dump_json(by_alias=True).encode(), content_type="j")
        self.blobs.modified_at_ms[key] = kept.kept_at
        return key
