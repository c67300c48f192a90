"""How each kind of stored item, sent message and document is read back."""

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel

from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.access.limits import DynamoDbRequestRates
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.items import DATA_PREFIX, DEPENDENTS_PREFIX, TASK_PREFIX
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import job_of
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch, DynamoDbPresence
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.submission_keys import (
    DynamoDbDeduplication,
    DynamoDbSubmissionKeys,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.alerting import subject_to_check
from switchyard.contracts.dispatch_messages import wake_up
from switchyard.contracts.events import StoredEvent, what_it_says
from switchyard.contracts.events.envelope import BusMessage
from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.messages import Delivered, MessageAttribute, parse_message
from switchyard.contracts.parked_messages import read_parked
from switchyard.contracts.redrive_plans import read_plan
from switchyard.contracts.triggers import parse_trigger_message
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import RequestLimits
from switchyard.domain.events import event_queries
from switchyard.domain.ids import TaskRef
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.scheduling.ready import DEFAULT_QUEUE
from tests.builders import NOW_MS, TENANT
from tests.fakes.tables import BUCKET, a_table, events_table, state_table
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.s3 import S3

Item = Mapping[str, Any]
_LIMITS: Final = RequestLimits(per_second=5, burst=10, per_day=1_000)


def read_item(kind: str, item: Item) -> Any:
    """What the adapter of its port makes of it, as JSON."""
    dynamodb = DynamoDb()
    name = _TABLES.get(kind, state_table)(dynamodb, "one")
    dynamodb.put_item(TableName=name, Item=item)
    return plain(_ITEMS[kind](DynamoDbTable(dynamodb, name), item))


def read_message(queue: str, sent: Mapping[str, Any]) -> Any:
    attributes = {
        name: MessageAttribute(data_type=found["DataType"], string_value=found["StringValue"])
        for name, found in sent["attributes"].items()
    }
    delivered = Delivered(
        body=sent["body"], message_id="m-1", sent_at_ms=NOW_MS, attributes=attributes
    )
    return plain(_QUEUES[queue](delivered))


def read_document(kind: str, key: str, text: str) -> Any:
    return plain(_DOCUMENTS[kind](key, text.encode()))


def plain(value: Any) -> Any:
    """Return the value as JSON would say it."""
    match value:
        case Enum():
            return value.value
        case BaseModel():
            return plain(value.model_dump(mode="json"))
        case frozenset() | set():
            return sorted(value)
        case tuple() | list():
            return [plain(inner) for inner in value]
        case Mapping():
            return {str(name): plain(inner) for name, inner in value.items()}
        case _ if dataclasses.is_dataclass(value):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return value


def _task(item: Item, prefix: str) -> TaskRef:
    return job_of({"PK": item["PK"]["S"]}).task(item["SK"]["S"].removeprefix(prefix))


def _name(item: Item) -> str:
    return str(item["SK"]["S"].partition("#")[2])


def _key(item: Item, kind: KeyKind, mark: str) -> Callable[[DynamoDbTable], Any]:
    key = item["PK"]["S"].partition(mark)[2]
    created = int(item["created_at_ms"]["N"])
    return lambda table: DynamoDbSubmissionKeys(table).find(TENANT, key, now_ms=created, kind=kind)


def _minute(table: DynamoDbTable, item: Item) -> Any:
    minute = int(item["SK"]["S"].partition("#")[0])
    return DynamoDbCounters(table).between(minute, minute + 60_000)


def _payload(table: DynamoDbTable, item: Item) -> Any:
    blobs = S3BlobStore(S3(), BUCKET)
    return DynamoDbPayloads(table, blobs).read_what_is_left(_task(item, DATA_PREFIX))


def _version(table: DynamoDbTable, item: Item) -> Any:
    name, number = _name(item).rsplit("#", 1)
    tenant = item["PK"]["S"].removeprefix("TENANT#")
    return DynamoDbDefinitionStore(table).version(tenant, name, int(number))


def _latest(table: DynamoDbTable, item: Item) -> Any:
    tenant = item["PK"]["S"].removeprefix("TENANT#")
    return DynamoDbDefinitionStore(table).latest(tenant, [_name(item)])


def _event(table: DynamoDbTable, item: Item) -> Any:
    reader = DynamoDbEventReader(table, EventOverflow(S3BlobStore(S3(), BUCKET), BUCKET))
    [event] = reader.read(event_queries.whole_log(item["tenantId"]["S"]))
    return {"event": event, "says": _says(event)}


def _says(event: StoredEvent) -> Any:
    said = what_it_says(event)
    return {"model": type(said).__name__, "properties": said}


def _alert(table: DynamoDbTable, item: Item) -> Any:
    return DynamoDbAlertStore(table).find(item["SK"]["S"])


_ITEMS: Final[Mapping[str, Callable[[DynamoDbTable, Item], Any]]] = {
    "job": lambda table, item: DynamoDbJobStore(table).find(job_of({"PK": item["PK"]["S"]})),
    "task": lambda table, item: DynamoDbTaskGraph(table).find(_task(item, TASK_PREFIX)),
    "dependents": lambda table, item: DynamoDbTaskGraph(table).edges_from(
        [_task(item, DEPENDENTS_PREFIX)]
    ),
    "data": _payload,
    "trigger": lambda table, item: DynamoDbTriggerStore(table).find(TENANT, _name(item)),
    "api-key": lambda table, item: DynamoDbApiKeys(table).find(TENANT, _name(item)),
    "alert": _alert,
    "request-rate": lambda table, item: DynamoDbRequestRates(table).take(
        Caller(TENANT, item["PK"]["S"].rpartition("#")[2]), limits=_LIMITS, now_ms=NOW_MS
    ),
    "submission-key": lambda table, item: _key(item, KeyKind.PRODUCER, "#KEY#")(table),
    "trigger-key": lambda table, item: _key(item, KeyKind.TRIGGER, "#TRIGGERKEY#")(table),
    "worker": lambda table, _: DynamoDbPresence(table).all(),
    "once": lambda table, item: DynamoDbDeduplication(table).first(
        item["PK"]["S"].removeprefix("ONCE#"), now_ms=NOW_MS, keep_ms=1
    ),
    "consumption": lambda table, _: DynamoDbPauseSwitch(table).paused(),
    "clocks": lambda table, _: DynamoDbTenantClocks(table).of_group(DEFAULT_QUEUE),
    "counts": _minute,
    "spending": _minute,
    "published-minutes": lambda table, _: DynamoDbPublishedMinutes(table).take(
        until_ms=NOW_MS + 60_000, at_most_ms=600_000
    ),
    "latest": _latest,
    "version": _version,
    "event": _event,
}
_TABLES: Final[Mapping[str, Callable[[Any, str], str]]] = {
    "event": events_table,
    "latest": a_table,
    "version": a_table,
}


def _task_message(delivered: Delivered) -> Any:
    return parse_message(delivered, tenant=TENANT)


_QUEUES: Final[Mapping[str, Callable[[Delivered], Any]]] = {
    "tasks": _task_message,
    "tasks-dlq": _task_message,
    "dispatch": lambda delivered: wake_up(delivered.body),
    "dispatch-dlq": lambda delivered: wake_up(delivered.body),
    "events": lambda delivered: BusMessage.model_validate_json(delivered.body).detail.record(),
    "alerts": lambda delivered: str(subject_to_check(delivered.body)),
    "trigger": lambda delivered: parse_trigger_message(delivered.body),
}


def _parked(key: str, content: bytes) -> dict[str, Any]:
    """Read a parked message, and name its fields as the corpus of version 0.1.0 does."""
    fields = read_parked(key, content).model_dump(mode="json")
    fields = {name: fields[name] for name in fields if name not in {"schema_version", "attributes"}}
    fields["kept_at"] = fields.pop("parked_at")
    return fields


_DOCUMENTS: Final[Mapping[str, Callable[[str, bytes], Any]]] = {
    "task/documents": lambda _, content: JobDocument.read(content),
    "task/redrives": lambda _, content: read_plan(content),
    **dict.fromkeys(("parked", "quarantine", "undeliverable"), _parked),
}
OPAQUE: Final = frozenset({"task/inputs", "task/logs", "events"})
"""Documents that are what producers and agents wrote, of any shape."""
PARKED: Final = "parked"
"""Parked messages. Version 0.1.0 does not look for them below this prefix."""
NO_LONGER_WRITTEN: Final = frozenset({"quarantine", "undeliverable"})
"""Where version 0.1.0 parked messages; they are still read."""
