"""Task definitions: every version for ever, and a copy of the latest for listing."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from switchyard.adapters.dynamodb.items import json_text
from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update, key_item
from switchyard.adapters.dynamodb.values import Item, serialized
from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.errors import NewerVersion, NotNow, UnknownDefinition

_DELETED: Final = "deleted_at_ms"
_COMMITTED: Final = "committed/"
"""Before the stored kind of a definition that has commitments."""


class DynamoDbDefinitionStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        item = self._table.get(_latest_key(tenant, name))
        current = _definition(item) if item else None
        if item and current and _is_known(item) and current.says(definition):
            return current
        registered = RegisteredDefinition(
            **definition.model_dump(), name=name, version=current.version + 1 if current else 1
        )
        self._write(tenant, registered)
        return registered

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        items = self._table.get_many([_latest_key(tenant, name) for name in sorted(set(names))])
        found = map(_definition, filter(_is_known, items))
        return {definition.name: definition for definition in found}

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        item = self._table.get(_version_key(tenant, name, version))
        if item is None:
            raise UnknownDefinition(f"{name} version {version}")
        return _definition(item)

    def all(self, tenant: str, *, after: str | None = None) -> Iterator[RegisteredDefinition]:
        start = {"ExclusiveStartKey": _start(tenant, after)} if after else {}
        items = self._table.query(
            "#PK = :tenant AND begins_with(#SK, :latest)",
            {"tenant": _partition(tenant), "latest": "LATEST#"},
            **start,
        )
        return filter(None, map(_definition_if_known, filter(_is_known, items)))

    def delete(self, tenant: str, name: str, *, now_ms: int) -> RegisteredDefinition:
        current = self.latest(tenant, [name]).get(name)
        if current is None:
            raise UnknownDefinition(name)
        answer = self._table.update(
            _latest_key(tenant, name),
            Update(
                set={_DELETED: now_ms},
                condition=f"#version = :version AND attribute_not_exists(#{_DELETED})",
                values={"version": current.version},
            ),
        )
        if isinstance(answer, FailedCondition):
            raise _changed(name)
        return current

    def _write(self, tenant: str, definition: RegisteredDefinition) -> None:
        content: dict[str, Any] = {
            "version": definition.version,
            "document": json_text(_document(definition)),
        }
        never_overwritten = Update(set=content, condition="attribute_not_exists(#PK)")
        follows_the_one_read = Update(
            set=content,
            remove=(_DELETED,),
            condition="attribute_not_exists(#PK) OR #version = :previous",
            values={"previous": definition.version - 1},
        )
        written = self._table.transact(
            (_version_key(tenant, definition.name, definition.version), never_overwritten),
            (_latest_key(tenant, definition.name), follows_the_one_read),
        )
        if not written:
            raise _changed(definition.name)


def _changed(name: str) -> NotNow:
    return NotNow(f"definition {name!r} was changed at the same time; try again in a moment")


def _is_known(item: Item) -> bool:
    """Return whether it exists: a deleted one keeps its item, for the next version number."""
    return _DELETED not in item


def _definition(item: Item) -> RegisteredDefinition:
    """Raise `NewerVersion` for what this version could not have accepted."""
    try:
        return RegisteredDefinition.model_validate(_known_kind(json.loads(item["document"])))
    except ValidationError as error:
        name = item["SK"].partition("#")[2]
        raise NewerVersion(f"the task definition {name!r} is of a newer version") from error


def _document(definition: RegisteredDefinition) -> dict[str, Any]:
    """Mark a definition with commitments by its kind: a version that cannot check them reads no
    such kind, and leaves its tasks to one that can."""
    document = definition.model_dump(mode="json", exclude_none=True)
    if definition.commitments:
        document["kind"] = f"{_COMMITTED}{definition.kind}"
    return document


def _known_kind(document: dict[str, Any]) -> dict[str, Any]:
    kind = document.get("kind", "")
    return document | ({"kind": kind.removeprefix(_COMMITTED)} if kind else {})


def _definition_if_known(item: Item) -> RegisteredDefinition | None:
    """A list shows what this version can show: one definition must not hide all others."""
    try:
        return _definition(item)
    except NewerVersion:
        return None


def _partition(tenant: str) -> str:
    return f"TENANT#{tenant}"


def _start(tenant: str, name: str) -> Item:
    return serialized(key_item(_latest_key(tenant, name)))


def _latest_key(tenant: str, name: str) -> Key:
    return _partition(tenant), f"LATEST#{name}"


def _version_key(tenant: str, name: str, version: int) -> Key:
    return _partition(tenant), f"VERSION#{name}#{version:08d}"
