"""Counts what is in a queue by the index of due times, page by page up to a bound."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.ids import DEFAULT_QUEUE, DUE_SHARDS, TaskRef
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import Unsettled
from switchyard.ports.work_queues import Contents

ROWS_PER_SHARD: Final = 200
MOST_TASKS: Final = 1_000
"""How many tasks of the tenant are read."""
_PENDING: Final = frozenset({TaskState.READY, TaskState.QUEUED})
_COUNTED: Final = _PENDING | {TaskState.PROCESSING}


@dataclass(frozen=True, kw_only=True)
class DueContents:
    unsettled: Unsettled

    def of(self, tenant: str, queue: str) -> Contents:
        refs, partial = self._candidates(tenant)
        tasks = [task for task in self._read(refs) if (task.queue or DEFAULT_QUEUE) == queue]
        pending = [task for task in tasks if task.state in _PENDING]
        running = [task for task in tasks if task.state is TaskState.PROCESSING]
        ready = [task.ready_at_ms for task in pending if task.ready_at_ms is not None]
        return Contents(
            pending=Counter(map(_class, pending)),
            in_flight=Counter(map(_class, running)),
            consumers=len({_worker(task) for task in running}),
            oldest_ready_at_ms=min(ready, default=None),
            partial=partial,
        )

    def _candidates(self, tenant: str) -> tuple[list[TaskRef], bool]:
        """Return tasks of the tenant, and whether there may be others."""
        refs: list[TaskRef] = []
        partial = False
        for shard in range(DUE_SHARDS):
            page = self.unsettled.page(shard, limit=ROWS_PER_SHARD, cursor=None)
            partial = partial or page.cursor is not None
            refs += [
                row.ref
                for row in page.tasks
                if row.ref.tenant == tenant and row.state in _COUNTED and not row.ref.hidden
            ]
        return refs[:MOST_TASKS], partial or len(refs) > MOST_TASKS

    def _read(self, refs: Sequence[TaskRef]) -> Iterator[Task]:
        """Yield what a worker runs, as it is: the index may lag."""
        tasks = self.unsettled.read(refs) if refs else ()
        return (task for task in tasks if task.kind is None)


def _worker(task: Task) -> str:
    """Return the worker that runs a task: an owner is its id, and the number of the claim."""
    return (task.owner or "").partition("/")[0]


def _class(task: Task) -> str:
    return task.priority or PriorityClass.NORMAL
