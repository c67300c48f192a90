"""Work queues in the state table: one item each, in a partition of their tenant."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update, key_item
from switchyard.adapters.dynamodb.values import Item, deserialized, serialized
from switchyard.contracts.tables import TTL, queues_partition
from switchyard.domain.errors import Conflict
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.scheduling.work_queues import (
    Concurrency,
    DefinitionTerms,
    UnknownWorkQueue,
    WorkQueue,
)
from switchyard.ports.work_queues import PageOfQueues

_PREFIX: Final = "QUEUE#"
_DAY_SECONDS: Final = 24 * 60 * 60
_ATTRIBUTES: Final = {field.name for field in fields(WorkQueue)} - {"tenant", "name"}
_NAMED: Final = ("lease_ms", "max_attempts", "starts_per_minute", "created_by", "created_at_ms")


class DynamoDbWorkQueueStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def create(self, queue: WorkQueue) -> bool:
        new = Update(set=_item(queue), remove=[TTL], condition="attribute_not_exists(#version)")
        return not isinstance(self._update(queue.tenant, queue.name, new), FailedCondition)

    def find_many(self, tenant: str, names: Iterable[str]) -> Mapping[str, WorkQueue]:
        keys = [_key(tenant, name) for name in sorted(set(names))]
        found = [self._table.get(keys[0])] if len(keys) == 1 else self._table.get_many(keys)
        queues = [_queue(tenant, item) for item in found if item and "version" in item]
        return {queue.name: queue for queue in queues}

    def page(self, tenant: str, *, limit: int, after: str | None = None) -> PageOfQueues:
        start = {"ExclusiveStartKey": serialized(key_item(_key(tenant, after)))} if after else {}
        page = next(
            self._table.pages(
                "#PK = :tenant AND begins_with(#SK, :queues)",
                {"tenant": queues_partition(tenant), "queues": _PREFIX},
                Limit=limit,
                **start,
            )
        )
        items = list(map(deserialized, page["Items"]))
        last = _name(items[-1]) if items and "LastEvaluatedKey" in page else None
        queues = tuple(_queue(tenant, item) for item in items if "version" in item)
        return PageOfQueues(queues=queues, after=last)

    def change(self, queue: WorkQueue) -> WorkQueue:
        item = _item(queue) | {"version": queue.version + 1}
        changed = self._update(
            queue.tenant,
            queue.name,
            Update(
                set=item,
                remove=sorted(_ATTRIBUTES - item.keys()),
                condition="#version = :read",
                values={"read": queue.version},
            ),
        )
        if isinstance(changed, FailedCondition):
            raise _refused(queue.name, changed)
        return _queue(queue.tenant, changed)

    def delete(self, queue: WorkQueue, *, now_ms: int) -> None:
        """Leave an empty item, which the table forgets after a day: no function may delete one."""
        deleted = self._update(
            queue.tenant,
            queue.name,
            Update(
                set={TTL: now_ms // 1000 + _DAY_SECONDS},
                remove=sorted(_ATTRIBUTES),
                condition="#version = :read",
                values={"read": queue.version},
            ),
        )
        if isinstance(deleted, FailedCondition):
            raise _refused(queue.name, deleted)

    def _update(self, tenant: str, name: str, update: Update) -> Item | FailedCondition:
        return self._table.update(_key(tenant, name), update)


def _refused(name: str, failed: FailedCondition) -> Conflict | UnknownWorkQueue:
    if not failed.item or "version" not in failed.item:
        return UnknownWorkQueue(name)
    return Conflict(f"the queue {name!r} was changed at the same time; read it again")


def _item(queue: WorkQueue) -> Item:
    said = {name: getattr(queue, name) for name in _NAMED}
    return {
        **{name: value for name, value in said.items() if value is not None},
        **({} if queue.priority is PriorityClass.NORMAL else {"priority": str(queue.priority)}),
        **({"concurrency": _concurrency_item(queue.concurrency)} if queue.concurrency else {}),
        "version": queue.version,
    }


def _queue(tenant: str, item: Mapping[str, Any]) -> WorkQueue:
    return WorkQueue(
        tenant=tenant,
        name=_name(item),
        priority=PriorityClass(item.get("priority", PriorityClass.NORMAL)),
        concurrency=_concurrency(item.get("concurrency")),
        version=item["version"],
        **{name: item[name] for name in _NAMED if name in item},
    )


def terms_item(terms: DefinitionTerms) -> Item:
    """Return what a definition says of the queue of its tasks, without what it does not say."""
    said = {name: value for name, value in asdict(terms).items() if value is not None}
    if terms.priority:
        said["priority"] = str(terms.priority)
    return said | (
        {"concurrency": _concurrency_item(terms.concurrency)} if terms.concurrency else {}
    )


def terms_from(item: Mapping[str, Any]) -> DefinitionTerms:
    return DefinitionTerms(
        queue=item.get("queue"),
        priority=PriorityClass(item["priority"]) if "priority" in item else None,
        concurrency=_concurrency(item.get("concurrency")),
        starts_per_minute=item.get("starts_per_minute"),
    )


def _concurrency_item(concurrency: Concurrency) -> Item:
    return {"limit": concurrency.limit} | ({"key": concurrency.key} if concurrency.key else {})


def _concurrency(item: Mapping[str, Any] | None) -> Concurrency | None:
    return Concurrency(limit=item["limit"], key=item.get("key")) if item else None


def _name(item: Mapping[str, Any]) -> str:
    return str(item["SK"]).removeprefix(_PREFIX)


def _key(tenant: str, name: str) -> Key:
    return queues_partition(tenant), f"{_PREFIX}{name}"
