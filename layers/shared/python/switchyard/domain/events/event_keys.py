"""Keys of an event: the sender computes them all, persistence adds none.

Sort keys end in the event's id, so two events of one millisecond never hide each other. Indexes are
sparse: a heartbeat carries the first alone, since each index entry is a paid write.
"""

import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_NAMESPACE: Final = uuid.UUID("5f0b6a7e-3d0c-5c63-9d5e-6b1f0e8f5a11")


class EntityType(StrEnum):
    TASK = "TASK"
    JOB = "JOB"
    STORE = "STORE"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventIdentity:
    """The fields of an event from which its keys are made."""

    event_id: str
    event_type: str
    entity_type: EntityType
    entity_id: str
    tenant: str
    app: str
    timestamp_ms: int


def event_id(entity_id: str, *, run: int, fence: int, event_type: str, number: int = 0) -> str:
    """Return a deterministic id: emitting the same transition again lands on the same key."""
    return str(uuid.uuid5(_NAMESPACE, f"{entity_id}|{run}|{fence}|{event_type}|{number}"))


def event_keys(event: EventIdentity, *, sparse: bool = False) -> dict[str, str]:
    tenant, app = f"TENANT#{event.tenant}", f"APP#{event.app}"
    entity, kind = f"{event.entity_type}#{event.entity_id}", f"EVENT#{event.event_type}"
    when = f"TIMESTAMP#{event.timestamp_ms}#EVENT#{event.event_id}"
    keys = {
        "PK": tenant,
        "SK": when,
        "GSI1PK": entity,
        "GSI1SK": f"{event.entity_type}#{when}",
    }
    if sparse:
        return keys
    return keys | {
        "GSI2PK": app,
        "GSI2SK": when,
        "GSI3PK": app,
        "GSI3SK": f"{entity}#{when}",
        "GSI4PK": kind,
        "GSI4SK": f"{tenant}#{when}",
        "GSI5PK": kind,
        "GSI5SK": f"{tenant}#{entity}#{when}",
        "GSI6PK": kind,
        "GSI6SK": f"{tenant}#{app}#{when}",
        "GSI7PK": kind,
        "GSI7SK": f"{tenant}#{app}#{entity}#{when}",
    }
