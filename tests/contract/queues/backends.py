"""A task queue and its senders and counters, in memory or in a cloud."""

from dataclasses import dataclass
from typing import Any

from switchyard.adapters.sqs import SqsQueueSender, SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.ports import Clock, QueueDepths, QueueSender
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.transport import MemoryQueueDepths, MemoryQueueSender
from tests.contract.clouds import Cloud


@dataclass
class QueueBackend:
    queue: Any
    depths: QueueDepths
    queue_url: str
    queue_sender: QueueSender
    queue_name: str
    """Under which `queue_sender` knows the queue."""
    clock: Clock
    """Decides when messages become visible."""
    accepts_stale_receipts: bool


def queue_in_memory() -> QueueBackend:
    clock = ManualClock()
    queue = MemoryHarness(clock).queue
    return QueueBackend(
        queue=queue,
        depths=MemoryQueueDepths({"tasks": queue}),
        queue_url="tasks",
        queue_sender=MemoryQueueSender({"tasks": queue}),
        queue_name="tasks",
        clock=clock,
        accepts_stale_receipts=False,
    )


def queue_in_the_cloud(cloud: Cloud) -> QueueBackend:
    """Create a queue that no other test sees."""
    sqs, name = cloud.client("sqs"), cloud.fresh("tasks")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    return QueueBackend(
        queue=SqsTaskQueue(sqs, url),
        depths=SqsQueueDepths(sqs),
        queue_url=url,
        queue_sender=SqsQueueSender(sqs),
        queue_name=name,
        clock=cloud.clock,
        accepts_stale_receipts=cloud.accepts_stale_receipts,
    )
