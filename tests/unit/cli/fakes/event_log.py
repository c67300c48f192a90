"""A log that answers as the API does, and that grows while it is read."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx

from switchyard.contracts.events import Context, Event, Properties, StoredEvent
from switchyard.contracts.events.views import EventPage, EventView
from tests.unit.cli.fakes.api import NOW_MS, answer


def an_event(said: Properties, at_ms: int = 0) -> EventView:
    context = Context(environment="test", origin="test")
    event = Event.of(said, tenant="t", app="a", timestamp_ms=NOW_MS + at_ms, context=context)
    return EventView.of(StoredEvent.model_validate(event.detail()))


class FakeLog:
    def __init__(self, *events: EventView) -> None:
        self.events = list(events)
        self.on_read: Callable[[int], None] = lambda _: None
        """Called before each answer, with how many there were."""
        self.page_size = 1000
        """The events of a page; a small number stands for large events."""
        self.asked: list[dict[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.on_read(len(self.asked))
        asked = dict(request.url.params)
        self.asked.append(asked)
        found = sorted(filter(_asked_for(asked), self.events), key=lambda e: e.timestamp_ms)
        if asked["order"] == "newest":
            found.reverse()
        start, limit = int(asked.get("cursor", 0)), min(int(asked["limit"]), self.page_size)
        end = start + limit
        more = str(end) if end < len(found) else None
        return answer(EventPage(events=tuple(found[start:end]), cursor=more))


def _asked_for(asked: dict[str, Any]) -> Callable[[EventView], bool]:
    try:
        since = datetime.fromisoformat(asked.get("since", ""))
    except ValueError:
        return lambda _: True
    return lambda event: event.timestamp >= since
