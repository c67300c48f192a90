"""Stores an event for ever, or for as long as the stage retains events."""

from datetime import timedelta

from switchyard.contracts.events import ArrivedEvent
from switchyard.ports import Clock, EventLog


def save_event(event: ArrivedEvent, *, log: EventLog, clock: Clock, retention: timedelta) -> bool:
    """Whether it is new: events come at least once."""
    received_at_ms = clock.now_ms()
    expires = int(received_at_ms / 1000 + retention.total_seconds())
    return log.append(event.record() | {"receivedAt": received_at_ms, "ttl": expires})
