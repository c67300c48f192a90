"""Exports the spans that ended with a batch of new events."""

from switchyard.contracts.events import ArrivedEvent
from switchyard.contracts.events.spans import spanned
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import Span
from switchyard.ports import SpanExporter


class Spans:
    """Collects the spans of one batch: they are sent together."""

    def __init__(self, exporter: SpanExporter | None) -> None:
        """Drop all spans if there is no exporter."""
        self._exporter = exporter
        self._ended: list[Span] = []

    def note(self, event: ArrivedEvent) -> None:
        """An event that is new: what came before was shown then."""
        span = spanned(event) if self._exporter else None
        if span is not None:
            self._ended.append(span)

    def export(self) -> str | None:
        """Return why some spans may be missing, if so; the events themselves are saved."""
        if self._exporter is None or not self._ended:
            return None
        try:
            self._exporter.export(self._ended)
        except Unavailable as outage:
            return str(outage)
        return None
