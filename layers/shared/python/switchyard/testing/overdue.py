"""In-memory twins of the index of due items."""

from collections.abc import Sequence

from switchyard.domain.ids import JobRef, TaskRef, due_shard
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.ports import PageOfOverdue, PageOfUnsettled, UnsettledTask
from switchyard.testing.state import MemoryState


class MemoryOverdue:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def page(self, shard: int, *, now_ms: int, limit: int, cursor: str | None) -> PageOfOverdue:
        with self._state.lock:
            things: list[Task | Job] = [*self._state.jobs.values(), *self._state.tasks.values()]
        due = {
            place_of(thing): thing.ref
            for thing in things
            if thing.due_at_ms is not None and thing.due_at_ms <= now_ms
            if due_shard(_name(thing.ref)) == shard
        }
        rest = sorted(place for place in due if cursor is None or place > cursor)
        places = rest[:limit]
        return PageOfOverdue(
            refs=tuple(due[place] for place in places),
            cursor=places[-1] if len(rest) > limit else None,
        )

    def move_due(self, overdue: Task | Job, due_at_ms: int, *, count: bool = False) -> bool:
        if isinstance(overdue, Job):
            postponed = of_jobs.postpone(overdue, due_at_ms)
            return isinstance(self._state.write_job(overdue.ref, postponed), Job)
        nudged = of_tasks.postpone(overdue, due_at_ms, count=count)
        return isinstance(self._state.write_task(overdue.ref, nudged), Task)

    def abandon(self, job: Job) -> bool:
        return isinstance(self._state.write_job(job.ref, of_jobs.abandon(job)), Job)


def _name(ref: TaskRef | JobRef) -> str:
    return ref.request_id if isinstance(ref, TaskRef) else ref.job_id


def place_of(overdue: Task | Job) -> str:
    """Return the sort key within a shard: by due time, then by name."""
    return f"{overdue.due_at_ms:015d}#{overdue.ref.tenant}#{_name(overdue.ref)}"


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
