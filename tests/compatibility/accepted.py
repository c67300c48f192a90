"""What the readers of a version accept: later versions must write no more than that."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator
from pydantic import BaseModel

from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.alerting import CheckSubject
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.dispatch_messages import DispatchMessage
from switchyard.contracts.events import CATALOGUE
from switchyard.contracts.events.envelope import BusMessage
from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.messages import TaskMessage
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.contracts.redrive_plans import StoredPlan
from switchyard.contracts.triggers import Trigger, TriggerMessage, TriggerRun
from switchyard.domain.states import JobState, Rule, TaskState
from tests.compatibility.novelties import Watch, paths_in
from tests.compatibility.readers import OPAQUE, read_item
from tests.compatibility.stage import readable

SINCE_RELEASED: Final = frozenset({"settings", "open-job", "clocks", "limit"})
"""Kinds of items that no released version has: none of them reads such an item."""
Accepted = Mapping[str, Any]

_SENT: Final[Mapping[str, type[BaseModel]]] = {
    "tasks": TaskMessage,
    "dispatch": DispatchMessage,
    "alerts": CheckSubject,
    "trigger": TriggerMessage,
    "events": BusMessage,
}
_STORED: Final[Mapping[str, type[BaseModel]]] = {
    "task/documents": JobDocument,
    "task/redrives": StoredPlan,
    "parked": ParkedMessage,
}
_IN_ITEMS: Final[Mapping[str, tuple[str, type[BaseModel], bool]]] = {
    "latest": ("document", RegisteredDefinition, False),
    "version": ("document", RegisteredDefinition, False),
    "trigger": ("document", Trigger, True),
    "trigger run": ("run", TriggerRun, False),
}
"""The attribute that is JSON text, its model, and whether its fields go by their aliases."""
_STATES: Final[Mapping[str, Any]] = {"job": JobState, "task": TaskState}
_UNKNOWN: Final = "from_the_future"
_NAMED_BY_IDS: Final = frozenset({"pinned", "tags"})


def accepted_now(watch: Watch) -> Accepted:
    """The schemas of the models that read, and what reading the items shows of their readers."""
    return {
        "messages": {name: model.model_json_schema() for name, model in _SENT.items()},
        "documents": {name: model.model_json_schema() for name, model in _STORED.items()},
        "texts": {
            name: model.model_json_schema(by_alias=by_alias)
            for name, (_, model, by_alias) in _IN_ITEMS.items()
        },
        "events": {name: model.model_json_schema() for name, model in CATALOGUE.items()},
        "states": {kind: sorted(states) for kind, states in _STATES.items()},
        "rules": sorted(Rule),
        "items": {kind: _probed(kind, found) for kind, found in sorted(watch.items.found.items())},
    }


def _probed(kind: str, found: list[Any]) -> dict[str, list[str]]:
    """The attributes without which an item cannot be read, and the maps that take no others."""
    plain = [deserialized(item) for item in found if read_item(kind, item)] or [{}]
    required: set[str] = set()
    closed: set[str] = set()
    known: set[str] = set()
    for item in plain:
        names = {path.removeprefix(".") for path in paths_in(_by_structure(item))}
        known |= names
        required |= {n for n in item if n not in {"PK", "SK"} and not _reads(kind, item, drop=n)}
        maps = {n for n, value in item.items() if isinstance(value, dict)}
        closed |= {n for n in maps - _NAMED_BY_IDS if not _reads(kind, item, add=n)}
    everywhere = set.intersection(*(set(item) for item in plain))
    return {
        "known": sorted(known),
        "required": sorted(required & everywhere),
        "closed": sorted(closed),
    }


def _reads(kind: str, item: dict[str, Any], *, drop: str = "", add: str = "") -> bool:
    """Whether it is read, and as before: an event whose model is not known any more is not."""
    changed = {name: value for name, value in item.items() if name != drop}
    if add:
        changed[add] = {**changed[add], _UNKNOWN: 1}
    try:
        read = read_item(kind, serialized(changed))
    except Exception:  # noqa: BLE001 - whatever it is, the item was not read
        return False
    return not add or kind != "event" or read["says"]["model"] == _model_of(item)


def _model_of(event: dict[str, Any]) -> Any:
    return read_item("event", serialized(event))["says"]["model"]


def refusals(accepted: Accepted, watch: Watch) -> Iterator[str]:
    """What was written that the readers of that version would refuse or misunderstand."""
    yield from _messages_refused(accepted, watch)
    for kind, documents in watch.documents.found.items():
        if kind in OPAQUE:
            continue
        for document in documents:
            given = readable(document["text"])
            yield from _against(accepted["documents"].get(kind), given, f"the document {kind}")
    for kind, items in watch.items.found.items():
        if kind in SINCE_RELEASED:
            continue
        for item in items:
            if read_item(kind, item):  # of what has ended, an empty item stays for a while
                yield from _item_refused(accepted, kind, deserialized(item))


def _messages_refused(accepted: Accepted, watch: Watch) -> Iterator[str]:
    for queue, messages in watch.messages.found.items():
        name = queue.removesuffix("-dlq")
        for message in messages:
            body = readable(message["body"])
            if not isinstance(body, dict) or (name == "tasks" and "schema" not in body):
                continue  # it is another producer's, or nobody's
            if "detail" in body:
                yield from _event_refused(accepted, body["detail"])
                continue
            schema = accepted["messages"].get(name)
            yield from _against(schema, body, f"a message of the queue {name}")


def _event_refused(accepted: Accepted, event: Mapping[str, Any]) -> Iterator[str]:
    name = event["eventType"]
    yield from _against(accepted["messages"]["events"], {"detail": event}, f"the event {name}")
    if name in accepted["events"] and "_s3Overflow" not in event["properties"]:
        schema = accepted["events"][name]
        yield from _against(schema, event["properties"], f"the properties of the event {name}")


def _item_refused(accepted: Accepted, kind: str, item: dict[str, Any]) -> Iterator[str]:
    known = accepted["items"].get(kind)
    if known is None:
        return  # no reader of that version looks for it
    yield from (f"{kind} items lack {name!r}" for name in known["required"] if name not in item)
    for name in known["closed"]:
        paths = set(paths_in(_by_structure(item.get(name, {})), name))
        for path in sorted(paths.difference(known["known"])):
            yield f"{kind} items have {path!r}, which their map does not take"
    states = accepted["states"].get(kind)
    if states is not None and item["state"] not in states:
        yield f"{kind} items have the state {item['state']!r}"
    yield from _texts_refused(accepted, kind, item)


def _texts_refused(accepted: Accepted, kind: str, item: dict[str, Any]) -> Iterator[str]:
    for name, (attribute, _, _) in _IN_ITEMS.items():
        if name.split()[0] == kind and attribute in item:
            given = json.loads(item[attribute])
            yield from _against(accepted["texts"][name], given, f"{attribute!r} of a {kind}")


def _by_structure(value: Any) -> Any:
    """Leave out the content of maps whose keys are ids."""
    if not isinstance(value, dict):
        return value
    return {
        name: {} if name in _NAMED_BY_IDS else _by_structure(inner) for name, inner in value.items()
    }


def _against(schema: Any, given: Any, what: str) -> Iterator[str]:
    if schema is None:
        return
    for error in Draft202012Validator(schema).iter_errors(given):
        yield f"{what}: {error.json_path}: {error.message[:200]}"
