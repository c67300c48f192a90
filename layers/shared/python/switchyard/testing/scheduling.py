"""The ready index, tenants' clocks and limits of starts, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import (
    LimitRef,
    ref_of_waiter,
    run_of,
    run_of_waiter,
)
from switchyard.domain.scheduling.ready import (
    CLASSES,
    Partition,
    ReadyTask,
    as_ready,
    partition_of,
    ready_partition,
)
from switchyard.domain.tasks import ready_transitions
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import GroupClocks, PageOfReady, TenantInGroup
from switchyard.testing.state import MemoryState


class MemoryReadyIndex:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def heads(self, group: str, tenant: str, *, now_ms: int, limit: int) -> Sequence[ReadyTask]:
        now = self._by_now(group, tenant, now_ms)
        of_class = {name: [one for one in now if one.priority == name] for name in CLASSES}
        return [one for tasks in of_class.values() for one in tasks[:limit]]

    def count(self, group: str, tenant: str, *, now_ms: int, at_most: int) -> int:
        return min(len(self._by_now(group, tenant, now_ms)), at_most)

    def holds_any(self, group: str, tenant: str) -> bool:
        return any(self._tasks(ready_partition(group, tenant, one)) for one in Partition)

    def enter(self, task: Task, *, now_ms: int) -> bool:
        entering = ready_transitions.enter_ready(task, now_ms=now_ms)
        if isinstance(entering, TransitionRefused):
            return False
        return isinstance(self._state.write_task(task.ref, entering), Task)

    def leave(self, task: Task) -> bool:
        leaving = ready_transitions.leave_ready(task)
        return isinstance(self._state.write_task(task.ref, leaving), Task)

    def move(self, task: Task, partition: Partition) -> bool:
        moving = ready_transitions.move_ready(task, partition)
        return isinstance(self._state.write_task(task.ref, moving), Task)

    def page(
        self, partition: Partition, group: str, tenant: str, *, limit: int, cursor: str | None
    ) -> PageOfReady:
        tasks = {_place(one): one for one in self._tasks(ready_partition(group, tenant, partition))}
        rest = [place for place in tasks if cursor is None or place > cursor]
        shown = rest[:limit]
        return PageOfReady(
            tasks=tuple(as_ready(tasks[place]) for place in shown),
            cursor=shown[-1] if len(rest) > limit else None,
        )

    def _by_now(self, group: str, tenant: str, now_ms: int) -> list[ReadyTask]:
        ready = map(as_ready, self._tasks(ready_partition(group, tenant)))
        return [one for one in ready if one.ready_from_ms <= now_ms]

    def _tasks(self, partition: str) -> list[Task]:
        with self._state.lock:
            tasks = [one for one in self._state.tasks.values() if one.ready_in == partition]
        return sorted(tasks, key=_place)


def _place(task: Task) -> str:
    return f"{task.ready_order}#{task.ref.job_id}#{task.ref.task_id}"


@dataclass
class _Group:
    tenants: dict[str, TenantInGroup] = field(default_factory=dict)
    floor: float = 0.0
    cost_usd: float = 0.0
    tasks: int = 0


class MemoryTenantClocks:
    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def of_group(self, group: str) -> GroupClocks:
        found = self._group(group)
        return GroupClocks(
            tenants=tuple(found.tenants[name] for name in sorted(found.tenants)),
            floor=found.floor,
            mean_cost_usd=found.cost_usd / found.tasks if found.tasks else None,
        )

    def mark(self, group: str, tenant: str, *, now_ms: int) -> None:
        before = self._tenant(group, tenant)
        if before.marked_at_ms is None:
            self.catch_up(group, tenant)
        latest = max(now_ms, before.marked_at_ms or now_ms)
        self._set(group, replace(self._tenant(group, tenant), marked_at_ms=latest))

    def unmark(self, group: str, tenant: str, *, marked_at_ms: int) -> bool:
        before = self._tenant(group, tenant)
        if before.marked_at_ms != marked_at_ms:
            return False
        self._set(group, replace(before, marked_at_ms=None))
        return True

    def catch_up(self, group: str, tenant: str) -> None:
        before = self._tenant(group, tenant)
        self._set(group, replace(before, clock=max(before.clock, self._group(group).floor)))

    def weigh(self, group: str, tenant: str, weight: float) -> None:
        self._set(group, replace(self._tenant(group, tenant), weight=weight))

    def charge(self, group: str, charges: Mapping[str, float]) -> None:
        for tenant, more in charges.items():
            before = self._tenant(group, tenant)
            self._set(group, replace(before, clock=before.clock + more))

    def raise_floor(self, group: str, clock: float) -> None:
        found = self._group(group)
        found.floor = max(found.floor, clock)

    def note_cost(self, group: str, dollars: float, tasks: int) -> None:
        found = self._group(group)
        found.cost_usd += dollars
        found.tasks += tasks

    def _group(self, group: str) -> _Group:
        return self._groups.setdefault(group, _Group())

    def _tenant(self, group: str, tenant: str) -> TenantInGroup:
        return self._group(group).tenants.get(tenant) or TenantInGroup(tenant=tenant)

    def _set(self, group: str, tenant: TenantInGroup) -> None:
        self._group(group).tenants[tenant.tenant] = tenant


class MemoryStartLimits:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def free(self, ref: LimitRef, *, now_ms: int) -> int:
        return self._state.limit(ref).free(ref.name, now_ms=now_ms)

    def wait(self, task: Task, name: str, *, now_ms: int) -> bool:
        ref = LimitRef(task.ref.tenant, name)
        if task.ready_in is None:
            return False
        with self._state.lock:
            noted = limit_transitions.add_waiter(task, name, self._state.limit(ref), now_ms=now_ms)
            moved = ready_transitions.move_ready(task, Partition.LIMITED)
            return self._state.write_together((task.ref, moved), (ref, noted))

    def waiters(self, ref: LimitRef, *, at_most: int) -> Sequence[TaskRef]:
        waiters = sorted(self._state.limit(ref).waiters)[:at_most]
        return [ref_of_waiter(ref.tenant, waiter) for waiter in waiters]

    def let_in(self, ref: LimitRef, *, now_ms: int, at_most: int = 1) -> Sequence[Task]:
        with self._state.lock:
            limit = self._state.limit(ref)
            free = min(limit.free(ref.name, now_ms=now_ms), at_most)
            moved: list[Task] = []
            for waiter in sorted(limit.waiters):
                if len(moved) < free and (task := self._moved_back(ref, waiter)):
                    moved.append(task)
            return moved

    def _moved_back(self, ref: LimitRef, waiter: str) -> Task | None:
        waiting = run_of_waiter(ref.tenant, waiter)
        task = self._state.tasks.get(waiting.ref)
        forgotten = limit_transitions.remove_waiter(waiter)
        if task is None or task.run != waiting.run or partition_of(task) != Partition.LIMITED:
            self._state.write_together((ref, forgotten))
            return None
        back = ready_transitions.move_ready(task, Partition.READY)
        written = self._state.write_together((task.ref, back), (ref, forgotten))
        return self._state.tasks[task.ref] if written else None

    def holders(self, ref: LimitRef) -> Sequence[TaskRun]:
        return [run_of(ref.tenant, holder) for holder in sorted(self._state.limit(ref).holders)]

    def remove_stale(self, ref: LimitRef, holder: TaskRun) -> bool:
        name = f"{holder.ref.job_id}#{holder.ref.task_id}@{holder.run}"
        return self._state.write_together(
            (holder.ref, ready_transitions.stay_idle(holder.run)),
            (ref, limit_transitions.remove_holder(name)),
        )
