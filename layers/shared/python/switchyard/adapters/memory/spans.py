"""Exported spans, in memory."""

from collections.abc import Sequence

from switchyard.domain.measuring.spans import Span


class MemorySpanExporter:
    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], Span] = {}

    def export(self, spans: Sequence[Span]) -> None:
        self.spans |= {(span.trace_id, span.span_id): span for span in spans}
