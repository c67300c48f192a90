"""What the event log can be asked: each question is one range of one index, within one tenant.

Ranges end in `TIMESTAMP#`, so task-1 never answers for task-10, and have an upper bound, so the
tenant a never sees ab. GSI1 to GSI3 do not name the tenant in their keys: their readers leave out
whatever is another's. Heartbeats are in their task's history and in the whole log, nowhere else.
"""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.event_keys import EntityType
from switchyard.domain.ids import JobRef, TaskRef

_LAST: Final = "~"  # sorts after everything an id or a timestamp may contain
_HISTORY: Final = "GSI1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    tenant: str
    index: str | None
    """`None` is the table itself."""
    partition: str
    low: str
    high: str

    @property
    def summarised(self) -> bool:
        """Whether the index holds summaries; the table and the histories hold whole events."""
        return self.index not in {None, _HISTORY}

    @property
    def key_names(self) -> tuple[str, str]:
        return f"{self.index or ''}PK", f"{self.index or ''}SK"


def history(ref: TaskRef | JobRef) -> EventQuery:
    """All events of one task or job, heartbeats included."""
    kind = _entity(ref).partition("#")[0]
    return _since(0, ref.tenant, _HISTORY, _entity(ref), f"{kind}#")


def of_all_tasks(job: JobRef, *, app: str) -> EventQuery:
    """The events of all tasks of a job."""
    prefix = f"{EntityType.TASK}#{_part(job.job_id)}__"
    return EventQuery(
        tenant=_part(job.tenant),
        index="GSI3",
        partition=f"APP#{_part(app)}",
        low=prefix,
        high=f"{prefix}{_LAST}",
    )


def of_app(tenant: str, app: str, *, since_ms: int = 0) -> EventQuery:
    return _since(since_ms, tenant, "GSI2", f"APP#{_part(app)}", "")


def of_type(tenant: str, event_type: str, *, since_ms: int = 0) -> EventQuery:
    return _of_type("GSI4", tenant, event_type, since_ms)


def of_type_and_entity(event_type: str, ref: TaskRef | JobRef, *, since_ms: int = 0) -> EventQuery:
    return _of_type("GSI5", ref.tenant, event_type, since_ms, _entity(ref))


def of_type_and_app(tenant: str, event_type: str, *, app: str, since_ms: int = 0) -> EventQuery:
    return _of_type("GSI6", tenant, event_type, since_ms, f"APP#{_part(app)}")


def of_type_app_and_entity(
    event_type: str, ref: TaskRef | JobRef, *, app: str, since_ms: int = 0
) -> EventQuery:
    return _of_type("GSI7", ref.tenant, event_type, since_ms, f"APP#{_part(app)}", _entity(ref))


def whole_log(tenant: str, *, since_ms: int = 0) -> EventQuery:
    return _since(since_ms, tenant, None, f"TENANT#{_part(tenant)}", "")


def _of_type(index: str, tenant: str, event_type: str, since_ms: int, *within: str) -> EventQuery:
    prefix = "".join(f"{part}#" for part in (f"TENANT#{_part(tenant)}", *within))
    return _since(since_ms, tenant, index, f"EVENT#{_part(event_type)}", prefix)


def _since(
    since_ms: int, tenant: str, index: str | None, partition: str, prefix: str
) -> EventQuery:
    return EventQuery(
        tenant=_part(tenant),
        index=index,
        partition=partition,
        low=f"{prefix}TIMESTAMP#{since_ms:013d}",
        high=f"{prefix}TIMESTAMP#{_LAST}",
    )


def _entity(ref: TaskRef | JobRef) -> str:
    match ref:
        case TaskRef():
            return f"{EntityType.TASK}#{_part(ref.request_id)}"
        case JobRef():
            return f"{EntityType.JOB}#{_part(ref.job_id)}"


def _part(text: str) -> str:
    """Part of a key: `#` would let it say more than its place."""
    if not text or "#" in text:
        raise Rejected(f"{text!r} cannot be part of a key")
    return text
