"""Reads the event log for callers: their own tenant's events, each query from its index."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from switchyard.contracts.events.views import (
    UNLISTED,
    EventPage,
    EventsAsked,
    EventView,
    JobEventsAsked,
    Order,
    event_type_named,
)
from switchyard.domain.errors import Invalid, Problem, UnknownJob
from switchyard.domain.events import event_queries
from switchyard.domain.events.event_queries import EventQuery, Period
from switchyard.domain.ids import JOB_ID, JobRef, TaskRef, task_named
from switchyard.domain.moments import moment_ms
from switchyard.ports import EventReader, JobStore

# Lambda answers with at most 6 MB, in which quotes may be escaped twice.
MAX_PAGE_BYTES: Final = 2_500_000

T = TypeVar("T")


def read_events(tenant: str, asked: EventsAsked, *, reader: EventReader, now_ms: int) -> EventPage:
    """Raise `Invalid` with every parameter that cannot be followed."""
    checks = _Checks()
    period = _period(asked, checks, now_ms)
    entity = checks.value("entity", asked.entity, lambda given: _entity(tenant, given))
    event_type = checks.value("type", asked.type, event_type_named)
    app = checks.value("app", asked.app, _app)
    if asked.entity and asked.app and not asked.type:
        checks.refuse("app", "goes with entity only if type is given; leave one of them out")
    if event_type in UNLISTED and not isinstance(entity, TaskRef):
        checks.refuse("type", f"{event_type} is in the history of each task alone; add its entity")
    checks.finish()
    return _page(reader, asked, _query(tenant, entity, event_type, app, period))


def read_job_events(
    ref: JobRef,
    asked: JobEventsAsked,
    *,
    app: str,
    reader: EventReader,
    jobs: JobStore,
    now_ms: int,
) -> EventPage:
    """The job's own events and those of all its tasks, without heartbeats. Raise `UnknownJob`."""
    if not JOB_ID.fullmatch(ref.job_id):
        raise UnknownJob(ref.job_id)
    checks = _Checks()
    period = _period(asked, checks, now_ms)
    only = checks.value("type", asked.type, event_type_named)
    if only in UNLISTED:
        checks.refuse("type", f"{only} is in the history of each task alone; ask for one task's")
    checks.finish()
    page = _page(
        reader,
        asked,
        event_queries.history(ref, period).only(only),
        event_queries.of_all_tasks(ref, app=app, period=period).only(only),
    )
    if not page.events and jobs.find(ref) is None:
        raise UnknownJob(ref.job_id)
    return page


@dataclass
class _Checks:
    """Collects what is wrong, so that the caller mends it all at once."""

    problems: list[Problem] = field(default_factory=list)

    def value(self, name: str, given: str | None, understood: Callable[[str], T]) -> T | None:
        if given is None:
            return None
        try:
            return understood(given)
        except ValueError as error:
            self.refuse(name, str(error))
            return None

    def refuse(self, name: str, reason: str) -> None:
        self.problems.append(Problem((name,), reason))

    def finish(self) -> None:
        if self.problems:
            raise Invalid(self.problems)


def _period(asked: JobEventsAsked, checks: _Checks, now_ms: int) -> Period:
    since_ms = checks.value("since", asked.since, lambda given: moment_ms(given, now_ms=now_ms))
    until_ms = checks.value("until", asked.until, lambda given: moment_ms(given, now_ms=now_ms))
    if since_ms is not None and until_ms is not None and until_ms <= since_ms:
        checks.refuse("until", "is not after since")
    return Period(since_ms=since_ms or 0, until_ms=until_ms)


def _entity(tenant: str, given: str) -> TaskRef | JobRef:
    if JOB_ID.fullmatch(given):
        return JobRef(tenant, given)
    try:
        return task_named(tenant, given)
    except ValueError:
        raise ValueError(
            f"{given!r} is neither a job's id (job-…) nor a request id (job-…__taskId)"
        ) from None


def _app(given: str) -> str:
    if not given or "#" in given:
        raise ValueError(f"{given!r} is not the name of an app")
    return given


def _query(
    tenant: str,
    entity: TaskRef | JobRef | None,
    event_type: str | None,
    app: str | None,
    period: Period,
) -> EventQuery:
    if event_type is None or event_type in UNLISTED:
        return _untyped(tenant, entity, app, period).only(event_type)
    if entity is None:
        if app is None:
            return event_queries.of_type(tenant, event_type, period)
        return event_queries.of_type_and_app(tenant, event_type, app=app, period=period)
    if app is None:
        return event_queries.of_type_and_entity(event_type, entity, period)
    return event_queries.of_type_app_and_entity(event_type, entity, app=app, period=period)


def _untyped(
    tenant: str, entity: TaskRef | JobRef | None, app: str | None, period: Period
) -> EventQuery:
    if entity is not None:
        return event_queries.history(entity, period)
    log = event_queries.whole_log(tenant, period)
    return log if app is None else log.within(app)


def _page(reader: EventReader, asked: JobEventsAsked, *queries: EventQuery) -> EventPage:
    page = reader.page(
        *queries,
        limit=asked.limit,
        max_bytes=MAX_PAGE_BYTES,
        cursor=asked.cursor,
        newest_first=asked.order is Order.NEWEST,
    )
    return EventPage(events=tuple(map(EventView.of, page.events)), cursor=page.cursor)
