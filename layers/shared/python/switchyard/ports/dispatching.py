"""The way to the dispatcher that does not lead over the bus."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun


class DispatchQueue(Protocol):
    """Wakes the dispatcher; decides nothing."""

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        """Let it start ready tasks, follow settled ones whose event was told, or go on with jobs
        that are being written, cancelled or redriven.

        Send all, or raise `Unavailable`: some may have been sent, which does no harm.
        """
