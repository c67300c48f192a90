"""Puts facts on the bus as events."""

from dataclasses import dataclass

from switchyard.contracts.events import Context, Event, Properties
from switchyard.ports import EventBus


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened, and when its transition was stored."""

    tenant: str
    properties: Properties
    at_ms: int


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
            context=self._context,
        )
