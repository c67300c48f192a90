"""Selects, from everything that a running stage writes, one example of each different shape."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.compatibility.stage import Stage, readable, stable
from tests.simulation.cloud.table import Change

SHAPES_OF_A_KIND: Final = 12
"""Different sets of attributes in one state, beside those that have an attribute for the first
time."""
_PARTITIONS: Final = {
    "#TRIGGERS": "trigger",
    "#APIKEYS": "api-key",
    "#RATE#": "request-rate",
    "#TRIGGERKEY#": "trigger-key",
    "#KEY#": "submission-key",
    "#OPEN": "open-job",
    "ALERTS": "alert",
    "WORKERS": "worker",
    "ONCE#": "once",
    "STAGE#CONSUMPTION": "consumption",
    "GROUP#": "clocks",
    "LIMIT#": "limit",
    "COUNTS#PUBLISHED": "published-minutes",
}
_NAMED_BY_IDS: Final = frozenset({"pinned", "tags"})
_JSON_TEXTS: Final = frozenset({"document", "run"})


def kind_of(item: Mapping[str, Any]) -> str:
    """The name of the kind of item, by its keys."""
    partition, sort = item["PK"]["S"], item["SK"]["S"]
    if "eventType" in item:
        return "event"
    for mark, kind in _PARTITIONS.items():
        if mark in partition:
            return kind
    if partition.startswith("COUNTS#"):
        return "spending" if "#" in sort else "counts"
    return str(sort.partition("#")[0].lower())


def paths_in(value: Any, place: str = "") -> Iterator[str]:
    """The names of all fields, with the fields around them."""
    match value:
        case dict():
            for name, inner in value.items():
                yield f"{place}.{name}"
                yield from paths_in(inner, f"{place}.{name}")
        case list():
            for inner in value:
                yield from paths_in(inner, f"{place}[]")


@dataclass
class Novelties:
    """Keeps what has a field, or a set of fields, that nothing of its kind and state had before."""

    found: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    _fields: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _shapes: dict[tuple[str, str], set[frozenset[str]]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def look_at(self, kind: str, state: str, value: Any, shape: Any = None) -> None:
        paths = frozenset(paths_in(value if shape is None else shape))
        fields, shapes = self._fields[kind, state], self._shapes[kind, state]
        more = paths not in shapes and len(shapes) < SHAPES_OF_A_KIND
        if (shapes and paths <= fields) and not more:
            return
        fields |= paths
        shapes.add(paths)
        self.found[kind].append(value)


@dataclass
class Watch:
    """Looks at all that a stage writes and sends, for as long as the stage runs."""

    items: Novelties = field(default_factory=Novelties)
    messages: Novelties = field(default_factory=Novelties)
    documents: Novelties = field(default_factory=Novelties)

    def over(self, stage: Stage) -> None:
        stage.cloud.dynamodb.on_change.append(self._note_item)
        for name, queue in stage.queues.items():
            queue.on_put.append(lambda message, name=name: self.note_message(name, message))  # type: ignore[misc]

    def note_bucket(self, objects: Mapping[str, bytes | str]) -> None:
        for key, body in sorted(objects.items()):
            text = body if isinstance(body, str) else body.decode()
            kind = "/".join(key.split("/")[:2] if key.startswith("task/") else key.split("/")[:1])
            self.documents.look_at(kind, "", {"key": key, "text": text}, shape=readable(text))

    def note_message(self, queue: str, message: Any) -> None:
        body = readable(message.body)
        state = body.get("detail", {}).get("eventType", "") if isinstance(body, dict) else ""
        shape = [body, message.attributes]
        sent = {"body": message.body, "attributes": message.attributes}
        self.messages.look_at(queue, state, sent, shape=shape)

    def _note_item(self, change: Change) -> None:
        self.note(change.new)

    def note(self, item: Mapping[str, Any]) -> None:
        stored = stable(item)
        state = item.get("state") or item.get("eventType") or {"S": ""}
        self.items.look_at(kind_of(stored), state["S"], stored, shape=_names_in(stored))


def _names_in(item: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, and what maps and JSON texts of ours contain, except under ids."""
    return {name: _content(name, typed) for name, typed in item.items()}


def _content(name: str, typed: Mapping[str, Any]) -> Any:
    if "M" in typed and name not in _NAMED_BY_IDS:
        return _names_in(typed["M"])
    return json.loads(typed["S"]) if name in _JSON_TEXTS and "S" in typed else None


def as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
