"""Limits of starts, in memory."""

from collections.abc import Sequence

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import (
    LimitRef,
    ref_of_waiter,
    run_of,
    run_of_waiter,
)
from switchyard.domain.scheduling.ready import (
    Partition,
    partition_of,
)
from switchyard.domain.tasks import ready_transitions
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.testing.state import MemoryState


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
        return self._state.write_together(
            (holder.ref, ready_transitions.stay_idle(holder.run)),
            (ref, limit_transitions.remove_holder(holder)),
        )
