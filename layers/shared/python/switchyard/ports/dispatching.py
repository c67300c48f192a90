"""The way to the dispatcher that does not lead over the bus."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.ids import JobRef, TaskRef


class DispatchQueue(Protocol):
    """Wakes the dispatcher; decides nothing."""

    def send(self, refs: Sequence[TaskRef | JobRef]) -> None:
        """Let it follow settled tasks, or go on with jobs that are being written, cancelled or
        redriven. Send all, or raise `Unavailable`: some may have been sent, which does no harm.
        """
