"""Decides whether a worker leaves because the groups of its pool have no work."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.scheduling.pools import WhenEmpty

READS: Final = 2
"""The reads in a row that have to find nothing: SQS counts messages approximately."""
SECONDS_BETWEEN_READS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFound:
    """What one read found in the groups of a pool."""

    waiting: int
    """Wake-ups that can be received now."""
    delayed: int
    """Wake-ups for later, of retries and of tasks that wait for a limit."""
    running: int
    """Tasks that run: in this worker, or in others of its groups."""

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.delayed or self.running)


class EmptyReads:
    """Counts how many reads in a row found nothing."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def add(self, found: WorkFound) -> bool:
        """Record a read; return whether the groups count as empty now."""
        self._in_a_row = self._in_a_row + 1 if found.is_empty else 0
        return self._in_a_row >= READS


def leaves_when_empty(when_empty: WhenEmpty, *, replaced_by_service: bool) -> bool:
    """Return whether a worker ends by itself once its groups are empty.

    A service would start a worker that ends anew at once, so there hibernating is left to its
    scaling, which stops the last worker after some empty minutes.
    """
    if when_empty is WhenEmpty.HIBERNATE:
        return not replaced_by_service
    return when_empty is WhenEmpty.TERMINATE
