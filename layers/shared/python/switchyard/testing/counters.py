"""In-memory twins of counters and exported spans."""

import threading
from collections.abc import Mapping, Sequence

from switchyard.domain.measuring.counts import Counts
from switchyard.domain.measuring.spans import Span


class MemoryCounters:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minutes: dict[int, Counts] = {}

    def add(self, minute_ms: int, counts: Counts) -> None:
        with self._lock:
            self._minutes[minute_ms] = self._minutes.get(minute_ms, Counts()) + counts

    def between(self, from_ms: int, to_ms: int) -> Mapping[int, Counts]:
        with self._lock:
            minutes = dict(sorted(self._minutes.items()))
        return {at: counts for at, counts in minutes.items() if from_ms <= at < to_ms}


class MemoryPublishedMinutes:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until_ms: int | None = None

    def take(self, *, until_ms: int, at_most_ms: int) -> int | None:
        with self._lock:
            last_ms = self._until_ms
            if last_ms is not None and last_ms >= until_ms:
                return None
            self._until_ms = until_ms
            earliest_ms = until_ms - at_most_ms
            return earliest_ms if last_ms is None else max(last_ms, earliest_ms)


class MemorySpanExporter:
    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], Span] = {}

    def export(self, spans: Sequence[Span]) -> None:
        self.spans |= {(span.trace_id, span.span_id): span for span in spans}
