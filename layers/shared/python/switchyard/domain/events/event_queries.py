"""Queries of the event log: each is one range of one index, within one tenant.

Ranges end in `TIMESTAMP#`, so task-1 never answers for task-10, and have an upper bound, so the
tenant a never sees ab. GSI1 to GSI3 do not name the tenant in their keys: their readers leave out
whatever is another's. Heartbeats are in their task's history and in the whole log, nowhere else.
"""

from dataclasses import dataclass, replace
from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.events.event_keys import EntityType
from switchyard.domain.ids import JobRef, TaskRef

_LAST: Final = "~"  # sorts after everything an id or a timestamp may contain
_HISTORY: Final = "GSI1"
_SHARED: Final = frozenset({"GSI2", "GSI3"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A period from `since_ms` on, until just before `until_ms`."""

    since_ms: int = 0
    until_ms: int | None = None

    @property
    def bounds(self) -> tuple[str, str]:
        """Return the bounds of the table's own sort keys, with which all other sort keys end."""
        until = _LAST if self.until_ms is None else f"{self.until_ms:013d}"
        return f"TIMESTAMP#{self.since_ms:013d}", f"TIMESTAMP#{until}"


EVER: Final = Period()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    tenant: str
    index: str | None
    """The index; `None` is the table itself."""
    partition: str
    stem: str
    """The beginning of the sort keys of all answers."""
    by_time: bool = True
    """Whether the time follows the stem; otherwise an entity does, and then the time."""
    first: str
    """Bounds of the table's sort keys among the answers."""
    last: str
    event_type: str | None = None
    """The type of the events, where the index does not say so already; `None` for all."""
    app: str | None = None
    """The app whose events are returned, where the index does not say so; `None` for all."""

    @property
    def low(self) -> str:
        return f"{self.stem}{self.first}" if self.by_time else self.stem

    @property
    def high(self) -> str:
        return f"{self.stem}{self.last if self.by_time else _LAST}"

    @property
    def summarised(self) -> bool:
        """Whether the index holds summaries; the table and the histories hold whole events."""
        return self.index not in {None, _HISTORY}

    @property
    def key_names(self) -> tuple[str, str]:
        return f"{self.index or ''}PK", f"{self.index or ''}SK"

    @property
    def empty(self) -> bool:
        """Whether nothing can lie between the bounds."""
        return self.first > self.last

    @property
    def shared(self) -> bool:
        """Whether the events of all tenants lie in its partition."""
        return self.index in _SHARED

    @property
    def identity(self) -> tuple[str, ...]:
        """Return the parts of the query that stay the same when time goes on."""
        narrowed = (self.event_type or "", self.app or "")
        return self.tenant, self.index or "", self.partition, self.stem, *narrowed

    def starting_at(self, sort_key: str) -> "EventQuery":
        return replace(self, first=max(self.first, sort_key))

    def ending_at(self, sort_key: str) -> "EventQuery":
        return replace(self, last=min(self.last, sort_key))

    def only(self, event_type: str | None) -> "EventQuery":
        return replace(self, event_type=event_type)

    def within(self, app: str) -> "EventQuery":
        return replace(self, app=_part(app))

    def admits(
        self, *, tenant: str, sort_key: str, event_type: str, app_key: str | None = None
    ) -> bool:
        """Whether what the index found is an answer; `sort_key` is the table's."""
        return (
            tenant == self.tenant
            and self.first <= sort_key <= self.last
            and self.event_type in {None, event_type}
            and (self.app is None or app_key == f"APP#{self.app}")
        )


def history(ref: TaskRef | JobRef, period: Period = EVER) -> EventQuery:
    """Query all events of one task or job, heartbeats included."""
    kind = _entity(ref).partition("#")[0]
    return _query(ref.tenant, _HISTORY, _entity(ref), f"{kind}#", period)


def of_all_tasks(job: JobRef, *, app: str, period: Period = EVER) -> EventQuery:
    """The events of all tasks of a job, task by task."""
    stem = f"{EntityType.TASK}#{_part(job.job_id)}__"
    return replace(_query(job.tenant, "GSI3", f"APP#{_part(app)}", stem, period), by_time=False)


def of_app(tenant: str, app: str, period: Period = EVER) -> EventQuery:
    """Query a whole app, for readers of a stage: it reads past the events of every other tenant."""
    return _query(tenant, "GSI2", f"APP#{_part(app)}", "", period)


def of_type(tenant: str, event_type: str, period: Period = EVER) -> EventQuery:
    return _of_type("GSI4", tenant, event_type, period)


def of_type_and_entity(event_type: str, ref: TaskRef | JobRef, period: Period = EVER) -> EventQuery:
    return _of_type("GSI5", ref.tenant, event_type, period, _entity(ref))


def of_type_and_app(tenant: str, event_type: str, *, app: str, period: Period = EVER) -> EventQuery:
    return _of_type("GSI6", tenant, event_type, period, f"APP#{_part(app)}")


def of_type_app_and_entity(
    event_type: str, ref: TaskRef | JobRef, *, app: str, period: Period = EVER
) -> EventQuery:
    return _of_type("GSI7", ref.tenant, event_type, period, f"APP#{_part(app)}", _entity(ref))


def whole_log(tenant: str, period: Period = EVER) -> EventQuery:
    return _query(tenant, None, f"TENANT#{_part(tenant)}", "", period)


def _of_type(index: str, tenant: str, event_type: str, period: Period, *within: str) -> EventQuery:
    stem = "".join(f"{part}#" for part in (f"TENANT#{_part(tenant)}", *within))
    return _query(tenant, index, f"EVENT#{_part(event_type)}", stem, period)


def _query(tenant: str, index: str | None, partition: str, stem: str, period: Period) -> EventQuery:
    first, last = period.bounds
    return EventQuery(
        tenant=_part(tenant), index=index, partition=partition, stem=stem, first=first, last=last
    )


def _entity(ref: TaskRef | JobRef) -> str:
    match ref:
        case TaskRef():
            return f"{EntityType.TASK}#{_part(ref.request_id)}"
        case JobRef():
            return f"{EntityType.JOB}#{_part(ref.job_id)}"


def _part(text: str) -> str:
    """Return a part of a key: `#` would let it say more than its place."""
    if not text or "#" in text:
        raise Rejected(f"{text!r} cannot be part of a key")
    return text
