"""Reads the log to the end or page by page, wherever it is stored."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from switchyard.adapters.eventbridge import EventOverflow
from switchyard.contracts.events import StoredEvent
from switchyard.domain.events.event_cursor import cursor_at, place_of
from switchyard.domain.events.event_queries import EventQuery
from switchyard.ports import PageOfEvents

Record = dict[str, Any]

FETCHED_AT_ONCE: Final = 50  # whole events; each may be 200 KB
MOST_LOOKED_AT: Final = 20_000  # in the time that one request has


class EventPages(ABC):
    def __init__(self, overflow: EventOverflow) -> None:
        self._overflow = overflow

    @abstractmethod
    def _find(
        self, query: EventQuery, *, newest_first: bool, at_once: int | None
    ) -> Iterable[Record]:
        """Yield the index's record of each event, in its order; `at_once` is the number wanted."""

    @abstractmethod
    def _whole(self, summaries: Sequence[Record]) -> Iterable[Record]:
        """The records behind summaries, in any order; without those that have expired since."""

    def read(self, query: EventQuery, *, full: bool = False) -> tuple[StoredEvent, ...]:
        found: Iterable[Record] = self._answers(query)
        if full and query.summarised:
            found = self._whole(list(found))
        return tuple(sorted(map(self._put_back, found), key=lambda event: event.order))

    def page(
        self,
        *queries: EventQuery,
        limit: int,
        max_bytes: int,
        cursor: str | None = None,
        newest_first: bool = False,
    ) -> PageOfEvents:
        place = place_of(cursor, queries, newest_first=newest_first) if cursor else None
        found: list[Record] = []
        ends: list[str] = []
        for query in queries:
            records, end = self._beyond(place, query, limit, max_bytes, newest_first=newest_first)
            found += records
            ends += [] if end is None else [end]
        found = _known_to_be_next(found, ends, newest_first=newest_first)
        events = tuple(self._fitting(found[:limit], max_bytes))
        if len(events) < len(found):
            ended = _place(found[len(events) - 1])
        elif ends:
            ended = max(ends) if newest_first else min(ends)
        else:
            return PageOfEvents(events, cursor=None)
        return PageOfEvents(events, cursor_at(ended, queries, newest_first=newest_first))

    def _beyond(
        self,
        place: str | None,
        query: EventQuery,
        count: int,
        max_bytes: int,
        *,
        newest_first: bool,
    ) -> tuple[list[Record], str | None]:
        """The first answers after a place, as many as a page may hold or a request may look for.

        And up to where these are all, if not to the end. All of them where they are not by time.
        """
        if place is not None:
            query = query.ending_at(place) if newest_first else query.starting_at(place)
        taken: list[Record] = []
        size = 0
        found = self._own(query, newest_first=newest_first, at_once=count + 1)
        for looked_at, record in enumerate(found):
            if _place(record) != place and _is_answer(record, query):
                if query.by_time and (len(taken) == count or size > max_bytes):
                    return taken, _place(taken[-1])
                taken.append(record)
                size += len(json.dumps(record.get("properties")))
            if query.by_time and looked_at >= MOST_LOOKED_AT:
                return taken, _place(record)
        return taken, None

    def _answers(self, query: EventQuery) -> Iterator[Record]:
        found = self._own(query, newest_first=False, at_once=None)
        return (record for record in found if _is_answer(record, query))

    def _own(
        self, query: EventQuery, *, newest_first: bool, at_once: int | None
    ) -> Iterator[Record]:
        """Yield the tenant's own records; other tenants' records are left out."""
        if query.empty:
            return
        for record in self._find(query, newest_first=newest_first, at_once=at_once):
            if record["tenantId"] == query.tenant:
                yield record

    def _fitting(self, records: Sequence[Record], max_bytes: int) -> Iterator[StoredEvent]:
        """Yield whole events as long as they fit together, but at least one."""
        total = 0
        for record in self._wholes(records):
            event, size = self._at_most(record, max_bytes)
            if total and total + size > max_bytes:
                return
            total += size
            yield event

    def _wholes(self, records: Sequence[Record]) -> Iterator[Record]:
        for start in range(0, len(records), FETCHED_AT_ONCE):
            chunk = records[start : start + FETCHED_AT_ONCE]
            summaries = [record for record in chunk if "properties" not in record]
            whole = {_place(record): record for record in self._whole(summaries)}
            yield from (whole.get(_place(record), record) for record in chunk)

    def _at_most(self, record: Record, max_bytes: int) -> tuple[StoredEvent, int]:
        """Leave large fields in the bucket if the event is too large even alone."""
        event = self._put_back(record)
        size = _size(event)
        if size <= max_bytes:
            return event, size
        event = StoredEvent.model_validate(record)
        return event, _size(event)

    def _put_back(self, record: Record) -> StoredEvent:
        if "properties" not in record:
            return StoredEvent.model_validate(record)
        properties = self._overflow.put_back(record["properties"])
        return StoredEvent.model_validate({**record, "properties": properties})


def _known_to_be_next(found: list[Record], ends: list[str], *, newest_first: bool) -> list[Record]:
    """Return the records in order, up to the place where one of the queries stopped answering."""
    found = sorted(found, key=_place, reverse=newest_first)
    if not ends:
        return found
    if newest_first:
        return [record for record in found if _place(record) >= max(ends)]
    return [record for record in found if _place(record) <= min(ends)]


def _is_answer(record: Record, query: EventQuery) -> bool:
    return query.admits(
        tenant=record["tenantId"],
        sort_key=_place(record),
        event_type=record["eventType"],
        app_key=record.get("GSI2PK"),
    )


def _place(record: Record) -> str:
    place: str = record["SK"]
    return place


def _size(event: StoredEvent) -> int:
    return len(json.dumps(event.properties))
