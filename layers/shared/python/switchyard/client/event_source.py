"""The events that a caller asks for, whichever route answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from switchyard.contracts.events import CATALOGUE
from switchyard.contracts.events.facts import JOB_STATES, TASK_STATES
from switchyard.contracts.events.views import EventPage, EventsAsked, EventView, Order

if TYPE_CHECKING:
    from switchyard.client.routes import Routes

MOST_AT_ONCE: Final = 1000

_ENDS: Final = frozenset(
    name
    for name, model in CATALOGUE.items()
    for state in [TASK_STATES.get(model) or JOB_STATES.get(model)]
    if state is not None and state.settled
)


@dataclass(frozen=True)
class EventSource:
    api: Routes
    asked: EventsAsked
    job: str | None = None
    """The id of the job that all events belong to, if they belong to one."""
    is_of_whole_job: bool = False
    followed: str | None = None
    """The job or task whose end is the end of following."""
    status: Callable[[], str] | None = None
    """Returns the status of the followed job or task."""

    @classmethod
    def of_job(cls, api: Routes, asked: EventsAsked, job_id: str) -> Self:
        """Read the events of a job and of all its tasks."""
        return cls(
            api,
            asked,
            job=job_id,
            is_of_whole_job=True,
            followed=job_id,
            status=lambda: api.job(job_id).status,
        )

    @classmethod
    def of_task(cls, api: Routes, asked: EventsAsked, job_id: str, task_id: str) -> Self:
        request_id = f"{job_id}__{task_id}"
        of_it = asked.model_copy(update={"entity": request_id})
        return cls(
            api,
            of_it,
            job=job_id,
            followed=request_id,
            status=lambda: api.task(job_id, task_id).status,
        )

    def newest(self, count: int) -> tuple[list[EventView], bool]:
        """The last so many, oldest first, and whether there are older ones."""
        found: list[EventView] = []
        for page in self._pages(order=Order.NEWEST, limit=min(count, MOST_AT_ONCE)):
            found += page.events
            if len(found) >= count:
                older = len(found) > count or page.cursor is not None
                return found[:count][::-1], older
        return found[::-1], False

    def every(self, *, since: str | None = None) -> Iterator[EventView]:
        """Yield all events, oldest first."""
        since = since or self.asked.since
        for page in self._pages(order=Order.OLDEST, limit=MOST_AT_ONCE, since=since):
            yield from page.events

    def is_end(self, event: EventView) -> bool:
        return event.entity_id == self.followed and event.event_type in _ENDS

    def _pages(self, **asked: object) -> Iterator[EventPage]:
        cursor: str | None = None
        while True:
            page = self._page({**asked, "cursor": cursor})
            yield page
            cursor = page.cursor
            if cursor is None:
                return

    def _page(self, changes: dict[str, object]) -> EventPage:
        given = self.asked.model_dump(exclude_none=True) | changes
        asked = EventsAsked(**{name: v for name, v in given.items() if v is not None})
        if self.is_of_whole_job and self.job is not None:
            return self.api.job_events(self.job, asked)
        return self.api.events(asked)
