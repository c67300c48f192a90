"""The ready index: a sparse index of the control items of tasks that may run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from switchyard.adapters.dynamodb.items import TASK_PREFIX
from switchyard.adapters.dynamodb.overdue import job_of
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.tables import READY_IN, READY_INDEX, READY_ORDER
from switchyard.domain.scheduling.ready import (
    CLASSES,
    DEFAULT_QUEUE,
    NORMAL,
    Partition,
    ReadyTask,
    class_and_time,
    class_number,
    ready_order,
    ready_partition,
)
from switchyard.domain.tasks import ready_transitions
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import PageOfReady

_WHOLE: Final = f"#{READY_IN} = :partition"
_OF_CLASS: Final = f"{_WHOLE} AND #{READY_ORDER} BETWEEN :first AND :last"


class DynamoDbReadyIndex:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)

    def heads(self, group: str, tenant: str, *, now_ms: int, limit: int) -> Sequence[ReadyTask]:
        """Read the partition's beginning, and only what that leaves open: one call if it is small.

        With a long backlog in one class, one more for each class that comes after it.
        """
        partition = ready_partition(group, tenant)
        page = next(self._pages(_WHOLE, {"partition": partition}, Limit=limit))
        found = [_ready_task(deserialized(item)) for item in page["Items"]]
        unread = _unread(found) if "LastEvaluatedKey" in page else []
        seen = [one for one in found if one.priority not in unread and one.ready_from_ms <= now_ms]
        return seen + [
            _ready_task(deserialized(item))
            for priority in unread
            for item in next(self._of_class(partition, priority, now_ms, Limit=limit))["Items"]
        ]

    def count(self, group: str, tenant: str, *, now_ms: int, at_most: int) -> int:
        partition, found = ready_partition(group, tenant), 0
        for priority in CLASSES:
            for page in self._of_class(partition, priority, now_ms, Select="COUNT", Limit=at_most):
                found += page["Count"]
                if found >= at_most:
                    return at_most
        return found

    def holds_any(self, group: str, tenant: str) -> bool:
        return any(self.page(one, group, tenant, limit=1, cursor=None).tasks for one in Partition)

    def enter(self, task: Task, *, now_ms: int) -> bool:
        entering = ready_transitions.enter_ready(task, now_ms=now_ms)
        if isinstance(entering, TransitionRefused):
            return False
        return isinstance(self._writer.write_task(task.ref, entering), Task)

    def leave(self, task: Task) -> bool:
        leaving = ready_transitions.leave_ready(task)
        return isinstance(self._writer.write_task(task.ref, leaving), Task)

    def move(self, task: Task, partition: Partition) -> bool:
        moving = ready_transitions.move_ready(task, partition)
        return isinstance(self._writer.write_task(task.ref, moving), Task)

    def page(
        self, partition: Partition, group: str, tenant: str, *, limit: int, cursor: str | None
    ) -> PageOfReady:
        start = {"ExclusiveStartKey": serialized(json.loads(cursor))} if cursor else {}
        name = ready_partition(group, tenant, partition)
        page = next(self._pages(_WHOLE, {"partition": name}, Limit=limit, **start))
        last = page.get("LastEvaluatedKey")
        return PageOfReady(
            tasks=tuple(_ready_task(deserialized(item)) for item in page["Items"]),
            cursor=json.dumps(deserialized(last)) if last else None,
        )

    def _of_class(
        self, partition: str, priority: str, now_ms: int, **options: Any
    ) -> Iterator[Any]:
        """Read the pages of a class up to now."""
        bounds = {"first": ready_order(priority, 0), "last": ready_order(priority, now_ms)}
        return self._pages(_OF_CLASS, {"partition": partition} | bounds, **options)

    def _pages(self, condition: str, values: Mapping[str, Any], **options: Any) -> Iterator[Any]:
        return self._table.pages(condition, values, IndexName=READY_INDEX, **options)


def _unread(found: Sequence[ReadyTask]) -> list[str]:
    """Return the classes of which a page that is not the last does not show the beginning whole."""
    first, last = class_number(found[0].priority), class_number(found[-1].priority)
    return list(CLASSES[last - 1 if last > first else last :])


def _ready_task(item: Mapping[str, Any]) -> ReadyTask:
    _, from_ms = class_and_time(item[READY_ORDER])
    return ReadyTask(
        ref=job_of(item).task(item["SK"].removeprefix(TASK_PREFIX)),
        queue=item.get("queue", DEFAULT_QUEUE),
        definition=item.get("definition", ""),
        priority=item.get("priority", NORMAL),
        ready_from_ms=from_ms,
        lease_ms=item.get("lease_ms"),
        limits=tuple(item.get("limits", ())),
    )
