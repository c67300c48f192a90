"""The ready index, in memory."""

from collections.abc import Sequence

from switchyard.domain.scheduling.ready import (
    CLASSES,
    Partition,
    ReadyTask,
    as_ready,
    ready_partition,
)
from switchyard.domain.tasks import ready_transitions
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import PageOfReady
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
