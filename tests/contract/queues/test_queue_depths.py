"""The contract of `QueueDepths`."""

from switchyard.contracts.messages import TaskMessage
from switchyard.ports import QueueDepth
from tests.builders import JOB
from tests.contract.queues.backends import QueueBackend


def test_messages_wait_are_hidden_or_come_later(backend: QueueBackend) -> None:
    def depth() -> QueueDepth:
        return backend.depths.of(backend.queue_url)

    assert depth() == QueueDepth(waiting=0, hidden=0)
    backend.queue.send([TaskMessage.to(JOB.task(f"t{n}"), run=1) for n in range(3)])
    backend.queue.send([TaskMessage.to(JOB.task("late"), run=1)], delay_seconds=600)
    assert depth() == QueueDepth(waiting=3, hidden=0, delayed=1)

    (received,) = backend.queue.receive(at_most=1, wait_seconds=0, visibility_seconds=600)
    assert depth() == QueueDepth(waiting=2, hidden=1, delayed=1)
    backend.queue.delete(received)
    assert depth() == QueueDepth(waiting=2, hidden=0, delayed=1)
