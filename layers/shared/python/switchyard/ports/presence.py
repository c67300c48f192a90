"""Who is there to do the tasks."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.health.presence import PresentWorker


class Presence(Protocol):
    """Remembers workers for some minutes after their last word; decides nothing.

    Each call may raise `Unavailable`.
    """

    def seen(self, worker: PresentWorker) -> None:
        """What it says now is all that is known of it."""

    def left(self, worker_id: str, *, now_ms: int) -> None:
        """It will say nothing more; harmless if it never said anything."""

    def all(self) -> Sequence[PresentWorker]:
        """By id. Some may have ended without a word: their time tells."""
