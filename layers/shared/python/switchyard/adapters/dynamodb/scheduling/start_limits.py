"""Limits of starts: one item each, which changes in one transaction with the task's."""

from collections.abc import Mapping, Sequence
from typing import Any

from switchyard.adapters.dynamodb.items import task_from, task_key
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.transition_writes import Write, limit_key, write_of
from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import (
    Limit,
    LimitRef,
    is_per_minute,
    limits_of,
    ref_of_waiter,
    run_of,
    run_of_waiter,
)
from switchyard.domain.scheduling.places import (
    Limits,
    first_full,
    places_given_back,
    places_taken,
)
from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.tasks import ready_transitions
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.domain.transition import applied


class Places:
    """The writes to limits that go with a claim, and with the end of a lease."""

    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def taken(self, task: Task, *, now_ms: int) -> list[Write]:
        """Return what a claim writes; limits are read only where the minute decides it."""
        counted = any(is_per_minute(name) for name in task.limits)
        limits = self.read(task) if counted else {}
        return [write_of(*place) for place in places_taken(task, limits, now_ms=now_ms)]

    def given_back(self, task: Task) -> list[Write]:
        return [write_of(*place) for place in places_given_back(task)]

    def first_full(self, task: Task, *, now_ms: int) -> LimitRef | None:
        return first_full(task, self.read(task), now_ms=now_ms)

    def read(self, task: Task) -> Limits:
        """Read the task's limits consistently, in one call."""
        refs = {limit_key(ref): ref for ref in limits_of(task)}
        items = self._table.get_many(list(refs))
        return {refs[item["PK"], item["SK"]]: limit_from(item) for item in items}


class DynamoDbStartLimits:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def free(self, ref: LimitRef, *, now_ms: int) -> int:
        return self._find(ref).free(ref.name, now_ms=now_ms)

    def wait(self, task: Task, name: str, *, now_ms: int) -> bool:
        if task.ready_in is None:
            return False
        ref = LimitRef(task.ref.tenant, name)
        noted = limit_transitions.add_waiter(task, name, self._find(ref), now_ms=now_ms)
        moved = ready_transitions.move_ready(task, Partition.LIMITED)
        return self._table.transact_patiently(write_of(task.ref, moved), write_of(ref, noted))

    def waiters(self, ref: LimitRef, *, at_most: int) -> Sequence[TaskRef]:
        waiters = sorted(self._find(ref).waiters)[:at_most]
        return [ref_of_waiter(ref.tenant, waiter) for waiter in waiters]

    def let_in(self, ref: LimitRef, *, now_ms: int, at_most: int = 1) -> Sequence[Task]:
        limit = self._find(ref)
        free = min(limit.free(ref.name, now_ms=now_ms), at_most)
        moved: list[Task] = []
        for waiter in sorted(limit.waiters):
            if len(moved) >= free:
                break
            task = self._moved_back(ref, waiter)
            if task is not None:
                moved.append(task)
        return moved

    def _moved_back(self, ref: LimitRef, waiter: str) -> Task | None:
        """Move one back; `None`, and it is forgotten, if it does not wait any more."""
        waiting = run_of_waiter(ref.tenant, waiter)
        item = self._table.get(task_key(waiting.ref))
        task = task_from(item, waiting.ref.job) if item else None
        forgotten = write_of(ref, limit_transitions.remove_waiter(waiter))
        if task is None or task.run != waiting.run or partition_of(task) != Partition.LIMITED:
            self._table.update(*forgotten)
            return None
        back = ready_transitions.move_ready(task, Partition.READY)
        written = self._table.transact_patiently(write_of(task.ref, back), forgotten)
        return applied(task, back) if written else None

    def holders(self, ref: LimitRef) -> Sequence[TaskRun]:
        return [run_of(ref.tenant, holder) for holder in sorted(self._find(ref).holders)]

    def remove_stale(self, ref: LimitRef, holder: TaskRun) -> bool:
        return self._table.transact_patiently(
            write_of(holder.ref, ready_transitions.stay_idle(holder.run)),
            write_of(ref, limit_transitions.remove_holder(holder)),
        )

    def _find(self, ref: LimitRef) -> Limit:
        return limit_from(self._table.get(limit_key(ref)) or {})


def limit_from(item: Mapping[str, Any]) -> Limit:
    return Limit(
        holders=frozenset(item.get("holders", ())),
        waiters=frozenset(item.get("waiters", ())),
        minute=item.get("minute", 0),
        started=item.get("started", 0),
        ttl=item.get("ttl", 0),
    )
