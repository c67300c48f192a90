"""Ports of both ends of the task queue, and of the dispatcher's queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from switchyard.contracts.messages import Attributes, Delivered, TaskMessage
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun


class TaskQueue(Protocol):
    """Wakes workers; decides nothing."""

    def send(self, messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        """Send all, or raise `Unavailable`: some may have been sent, which does no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(Delivered):
    receipt: str


class TaskInbox(Protocol):
    """The worker's side of the queue."""

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]: ...

    def extend(self, message: Received, *, seconds: int) -> None: ...

    def delete(self, *messages: Received) -> None:
        """Delete in as few calls as possible. Raise `Unavailable` if any may still be there."""


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """The approximate number of messages: SQS does not count exactly."""

    waiting: int
    """The messages that can be received now; those with a delay are not among them."""
    hidden: int
    """The messages that are received, and not deleted yet."""
    delayed: int = 0
    """To be received later."""

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.hidden or self.delayed)


class QueueDepths(Protocol):
    def of(self, queue: str) -> QueueDepth:
        """Return the depth of a queue, by its URL. Raise `Unavailable`."""


class QueueSender(Protocol):
    """Sends anything to any queue, by the queue's name."""

    def send(self, queue: str, body: str, attributes: Attributes) -> None:
        """Raise `UnknownQueue`, or `Unavailable`."""


class DispatchQueue(Protocol):
    """Wakes the dispatcher; decides nothing."""

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        """Let it start ready tasks, follow settled ones whose event was emitted, or go on with jobs
        that are being written, cancelled or redriven.

        Send all, or raise `Unavailable`: some may have been sent, which does no harm.
        """
