"""Puts facts on the bus as events."""

from dataclasses import dataclass

from switchyard.contracts.events import Context, Event, Properties
from switchyard.domain.measuring.spans import Trace
from switchyard.ports import EventBus


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that an event reports, and when its transition was stored."""

    tenant: str
    properties: Properties
    at_ms: int
    trace: Trace | None = None
    """The trace id; `None` for an event about no job and no task."""


class Emitter:
    """Adds to a fact what only the sender knows: its app, its stage and who it is."""

    def __init__(self, bus: EventBus, *, app: str, context: Context) -> None:
        self._bus = bus
        self._app = app
        self._context = context

    def emit(self, *facts: Fact) -> None:
        if facts:
            self._bus.put([self._event(fact) for fact in facts])

    def _event(self, fact: Fact) -> Event:
        return Event.of(
            fact.properties,
            tenant=fact.tenant,
            app=self._app,
            timestamp_ms=fact.at_ms,
            context=_traced(self._context, fact.trace),
        )


def _traced(context: Context, trace: Trace | None) -> Context:
    if trace is None:
        return context
    known = {"trace_id": trace.trace_id, "parent_span_id": trace.caller_span_id}
    return context.model_copy(update=known)
