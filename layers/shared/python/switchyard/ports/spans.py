"""Where traces are shown."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.measuring.spans import Span


class SpanExporter(Protocol):
    def export(self, spans: Sequence[Span]) -> None:
        """All at once. Raise `Unavailable` if some may not have arrived; nothing is tried again.

        A span that arrives twice is the same one: its id says so.
        """
