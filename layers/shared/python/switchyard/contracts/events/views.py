"""Queries of the event log, and the answers to them."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import Field, ValidationError

from switchyard.contracts.events import CATALOGUE, SCHEMA_VERSION, StoredEvent
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.wire import Closed, Written, instant
from switchyard.domain.errors import Invalid
from switchyard.domain.text import did_you_mean

_KEYS: Final = re.compile(r"(GSI\d)?[PS]K|ttl")
_BY_SLUG: Final = {name.lower().replace(" ", "-"): name for name in CATALOGUE}

UNLISTED: Final = frozenset(name for name, model in CATALOGUE.items() if model.sparse)
"""Types that no index lists: they are in their task's history alone."""


class Order(StrEnum):
    OLDEST = "oldest"
    NEWEST = "newest"


class JobEventsAsked(Closed):
    """Filters for the events of a job; a field that is absent does not filter."""

    type: str | None = None
    since: str | None = None
    until: str | None = None
    order: Order = Order.OLDEST
    limit: int = Field(default=100, ge=1, le=1000)
    cursor: str | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Raise `Invalid`; a misspelt parameter is one, too, and not taken for no parameter."""
        try:
            return cls.model_validate(parameters)
        except ValidationError as error:
            raise Invalid(validation_problems(error.errors())) from error


class EventsAsked(JobEventsAsked):
    entity: str | None = None
    app: str | None = None


class EventView(Written):
    """An event without the keys of its table. Unknown fields are preserved."""

    model_config = Written.model_config | {"extra": "allow"}

    schema_version: int = SCHEMA_VERSION
    event_id: str
    event_type: str
    entity_id: str
    entity_type: str
    tenant_id: str
    timestamp: datetime
    timestamp_ms: int
    context: dict[str, Any] = Field(default_factory=dict)
    properties: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, event: StoredEvent) -> Self:
        stored = event.model_dump(mode="json", by_alias=True, exclude_none=True)
        shown = {name: value for name, value in stored.items() if not _KEYS.fullmatch(name)}
        times = {"timestamp": instant(event.timestamp), "timestampMs": event.timestamp}
        return cls.model_validate(shown | times)

    def stored(self) -> StoredEvent:
        """Return the stored event, for a fold."""
        shown = self.model_dump(mode="json", by_alias=True, exclude={"timestamp_ms"})
        return StoredEvent.model_validate(shown | {"timestamp": self.timestamp_ms})


class EventPage(Written):
    events: tuple[EventView, ...]
    cursor: str | None = None


def event_type_named(given: str) -> str:
    """Find a type by its name or as `task-completed`. Raise `ValueError` that names others."""
    slug = re.sub(r"[\s_-]+", "-", given.strip().lower())
    if slug not in _BY_SLUG:
        hint = did_you_mean(given, _BY_SLUG) or f"; there are {', '.join(CATALOGUE)}"
        raise ValueError(f"{given!r} is not a type of event{hint}")
    return _BY_SLUG[slug]
