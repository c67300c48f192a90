"""What is under way, in memory."""

from collections.abc import Sequence

from switchyard.adapters.memory.overdue import place_of
from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import TaskRef, due_shard
from switchyard.domain.tasks.task import Task
from switchyard.ports import PageOfUnsettled, UnsettledTask


class MemoryUnsettled:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def page(self, shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
        with self._state.lock:
            due = {
                place_of(task): task
                for task in self._state.tasks.values()
                if task.due_at_ms is not None and due_shard(task.ref.request_id) == shard
            }
        rest = sorted(place for place in due if cursor is None or place > cursor)
        shown = rest[:limit]
        return PageOfUnsettled(
            tasks=tuple(_row(due[place]) for place in shown),
            cursor=shown[-1] if len(rest) > limit else None,
        )

    def read(self, refs: Sequence[TaskRef]) -> tuple[Task, ...]:
        with self._state.lock:
            return tuple(self._state.tasks[ref] for ref in refs if ref in self._state.tasks)


def _row(task: Task) -> UnsettledTask:
    return UnsettledTask(
        ref=task.ref,
        state=task.state,
        ready_at_ms=task.ready_at_ms,
        started_at_ms=task.started_at_ms,
    )
