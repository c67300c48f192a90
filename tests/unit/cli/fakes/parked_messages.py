"""The parked messages of a stage, in memory."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from switchyard.contracts.messages import Attributes, Delivered, MessageAttribute
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock
from switchyard.testing.harness import MemoryHarness
from switchyard.testing.transport import MemoryBlobStore, MemoryQueueSender, MemoryTaskQueue
from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
from switchyard.usecases.dead_letters.watch_redrive import RedriveWatch
from switchyard_local.endpoint import Endpoint
from tests.unit.cli.fakes.api import NOW_MS

MINUTE_MS = 60_000
ARN = "arn:aws:sqs:eu-central-1:123456789012"


class BusyClock(ManualClock):
    """While one sleeps, something happens."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.meanwhile()


class FakeParkedMessages:
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
        self.harness = MemoryHarness(self.clock)
        self.asked: list[tuple[str, str | None]] = []
        """Stage, and the endpoint of a local one."""
        self.outage: Unavailable | None = None

    @contextmanager
    def __call__(self, stage: str, local: Endpoint | None) -> Iterator[ParkedMessages]:
        self.asked.append((stage, local.aws_endpoint_url if local else None))
        if self.outage:
            raise self.outage
        yield ParkedMessages(blobs=self.blobs, queue_sender=MemoryQueueSender(self.queues))

    @contextmanager
    def watched(self, stage: str, local: Endpoint | None) -> Iterator[RedriveWatch]:
        with self(stage, local) as parked:
            yield RedriveWatch(
                parked=parked,
                graph=self.harness.graph,
                log=self.harness.reader,
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

    def park(
        self,
        message_id: str,
        body: str = "no JSON",
        *,
        reason: str = "body: no",
        minutes: int = 5,
        waited: int = 0,
    ) -> str:
        """Park a message so many minutes ago, after it had waited so many."""
        colour = MessageAttribute(data_type="String", string_value="blue")
        parked_at_ms = NOW_MS - minutes * MINUTE_MS
        sent_at_ms = parked_at_ms - waited * MINUTE_MS
        delivered = Delivered(
            body=body, message_id=message_id, sent_at_ms=sent_at_ms, attributes={"colour": colour}
        )
        stored = ParkedMessage.poison(
            delivered, reason=reason, queue="switchyard-local-task-queue", now_ms=parked_at_ms
        )
        return self._put(stored.key, stored.model_dump_json(by_alias=True), parked_at_ms)

    def undeliverable(
        self,
        message_id: str,
        *,
        queue: str = "switchyard-local-event-queue-dlq",
        body: str = '{"detail": {}}',
        **noted: str,
    ) -> str:
        """Park a dead letter as version 0.1.0 did."""
        attributes = {
            name: {"stringValue": value, "stringListValues": [], "dataType": "String"}
            for name, value in noted.items()
        }
        yesterday_ms = NOW_MS - 86_400_000
        stored = {
            "schemaVersion": 1,
            "queueArn": f"{ARN}:{queue}",
            "messageId": message_id,
            "sentAt": yesterday_ms,
            "receivedAt": yesterday_ms,
            "keptAt": yesterday_ms,
            "attributes": {"SentTimestamp": str(yesterday_ms)},
            "messageAttributes": attributes,
            "body": body,
        }
        key = f"undeliverable/{queue}/2027-01-14/{message_id}.json"
        return self._put(key, json.dumps(stored), yesterday_ms)

    def _put(self, key: str, stored: str, modified_at_ms: int) -> str:
        self.blobs.put(key, stored.encode(), content_type="j")
        self.blobs.modified_at_ms[key] = modified_at_ms
        return key
