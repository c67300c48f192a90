"""Decides which data of a tenant is erased, and how it is recognised."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from switchyard.domain.alerts.alerts import subject_in_key
from switchyard.domain.ids import JOB_ID

Table = Literal["state", "events", "definitions", "keys"]

_JOB: Final = "#JOB#"
_KINDS: Final = (
    ("#TRIGGERKEY#", "idempotency keys"),
    ("#TRIGGERS", "trigger records"),
    ("#KEY#", "idempotency keys"),
    ("#RATE#", "request limits"),
    ("#OPEN", "open jobs"),
    ("#SIGNALS#", "signals by events"),
    ("#SETTINGS", "settings"),
    ("#LIMIT#", "limits"),
    ("#QUEUES", "work queues"),
)
_SORTS: Final = {
    "JOB": "jobs",
    "TASK": "tasks",
    "DATA": "inputs and outputs",
    "DEPENDENTS": "dependencies",
}
NOT_ERASED: Final = (
    "Logs in CloudWatch, the archive of the event bus, backups of the tables and messages in "
    "queues are not erased: they expire by their own retention. Counters name no tenant."
)


@dataclass(frozen=True, slots=True)
class TenantItem:
    """An item of a table that belongs to one tenant."""

    table: Table
    partition: str
    sort: str
    entity: str | None = None
    """The job or task that an event is about."""


def kind_of(item: TenantItem) -> str:
    """Return the kind as which a report counts the item."""
    if item.table != "state":
        return {"events": "events", "definitions": "definitions", "keys": "API keys"}[item.table]
    if item.partition.startswith("GROUP#"):
        return "clocks"
    if not item.partition.startswith("TENANT#"):
        return "alerts"
    if _JOB in item.partition:
        return _SORTS.get(item.sort.partition("#")[0], "other items")
    return next((kind for mark, kind in _KINDS if mark in item.partition), "other items")


def entity_of(item: TenantItem) -> str | None:
    """The job, or the task without a job, whose objects in the bucket go with the item."""
    if item.table == "events":
        named = item.entity or ""
    else:
        named = item.partition.partition(_JOB)[2].removeprefix("~")
    job = named.partition("__")[0]
    return (job if JOB_ID.fullmatch(job) else named) or None


def prefixes_of_entity(entity: str) -> tuple[str, ...]:
    below = ("/", "__") if JOB_ID.fullmatch(entity) else ("/",)
    return tuple(f"{place}/{entity}{end}" for place in ("task/logs", "events") for end in below)


def prefixes_of_tenant(tenant: str) -> tuple[str, ...]:
    places = ("inputs", "documents", "redrives", "uploads", "job-files", "gathered")
    return tuple(f"task/{place}/{tenant}/" for place in places)


def is_alert_of(tenant: str, key: str) -> bool:
    """Whether the key of a stored alert names the tenant."""
    kind, _, rest = subject_in_key(key).partition("/")
    place = 1 if kind == "letters" else 0
    parts = rest.split("/")
    return kind in {"job", "task", "letters"} and parts[place : place + 1] == [tenant]


def names_tenant(text: str, tenant: str) -> bool:
    """Whether a parked message, whose body may be JSON within JSON, is of the tenant."""
    return bool(re.search(rf'\\*"tenantId\\*"\s*:\s*\\*"{re.escape(tenant)}\\*"', text))
