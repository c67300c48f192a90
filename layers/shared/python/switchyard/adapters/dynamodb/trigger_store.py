"""Triggers in the state table. Of a removed one an empty item stays, until the table forgets it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import TTL
from switchyard.contracts.triggers import AppliedTrigger, Trigger, TriggerRun
from switchyard.contracts.wire import instant
from switchyard.domain.errors import Conflict, NewerVersion
from switchyard.domain.triggers.triggers import UnknownTrigger

_DAY_SECONDS: Final = 24 * 60 * 60
_KNOWN: Final = "attribute_exists(#document)"
_PREFIX: Final = "TRIGGER#"


class DynamoDbTriggerStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def put(self, tenant: str, trigger: Trigger, *, now_ms: int) -> AppliedTrigger:
        content = {
            "document": trigger.model_dump_json(by_alias=True, exclude_none=True),
            "since_ms": now_ms,
        }
        changed = self._update(tenant, trigger.name, Update(set=content, condition=_KNOWN))
        if isinstance(changed, FailedCondition):
            changed = self._update(tenant, trigger.name, _as_new(content))
        if isinstance(changed, FailedCondition):
            raise Conflict(f"the trigger {trigger.name!r} was changed at the same time")
        return _applied(tenant, changed)

    def find(self, tenant: str, name: str) -> AppliedTrigger | None:
        item = self._table.get(_key(tenant, name))
        return _applied(tenant, item) if item and "document" in item else None

    def all(self, tenant: str) -> Sequence[AppliedTrigger]:
        items = self._table.query(
            "#PK = :tenant AND begins_with(#SK, :triggers)",
            {"tenant": _partition(tenant), "triggers": _PREFIX},
        )
        return [_applied(tenant, item) for item in items if "document" in item]

    def switch(self, tenant: str, name: str, *, on: bool, now_ms: int) -> AppliedTrigger:
        changes = {"enabled": on, "since_ms": now_ms}
        return _applied(tenant, self._change(tenant, name, Update(set=changes, condition=_KNOWN)))

    def remove(self, tenant: str, name: str, *, now_ms: int) -> None:
        self._change(
            tenant,
            name,
            Update(
                set={TTL: now_ms // 1000 + _DAY_SECONDS},
                remove=["document", "enabled", "since_ms", "run_at_ms", "run"],
                condition=_KNOWN,
            ),
        )

    def note_run(self, tenant: str, name: str, run: TriggerRun) -> None:
        at_ms = round(run.at.timestamp() * 1000)
        self._update(
            tenant,
            name,
            Update(
                set={"run_at_ms": at_ms, "run": run.model_dump_json(exclude_none=True)},
                condition=f"{_KNOWN} AND (attribute_not_exists(#run_at_ms) OR #run_at_ms <= :at)",
                values={"at": at_ms},
            ),
        )

    def _change(self, tenant: str, name: str, update: Update) -> Item:
        changed = self._update(tenant, name, update)
        if isinstance(changed, FailedCondition):
            raise UnknownTrigger(tenant, name)
        return changed

    def _update(self, tenant: str, name: str, update: Update) -> Item | FailedCondition:
        return self._table.update(_key(tenant, name), update)


def _as_new(content: Item) -> Update:
    return Update(
        set=content | {"enabled": True},
        remove=[TTL],
        condition="attribute_not_exists(#document)",
    )


def _applied(tenant: str, item: Mapping[str, Any]) -> AppliedTrigger:
    run = item.get("run")
    return AppliedTrigger(
        tenant=tenant,
        trigger=_trigger(item),
        enabled=item["enabled"],
        since=instant(item["since_ms"]),
        last_run=TriggerRun.model_validate_json(run) if run else None,
    )


def _trigger(item: Mapping[str, Any]) -> Trigger:
    """Raise `NewerVersion`: a caller must not believe that it is gone."""
    try:
        return Trigger.model_validate_json(item["document"], extra="ignore")
    except ValidationError as error:
        name = item["SK"].removeprefix(_PREFIX)
        raise NewerVersion(f"the trigger {name!r} is of a newer version") from error


def _partition(tenant: str) -> str:
    return f"TENANT#{tenant}#TRIGGERS"


def _key(tenant: str, name: str) -> Key:
    return _partition(tenant), f"{_PREFIX}{name}"
