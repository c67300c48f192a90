"""What is overdue, in memory."""

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import JobRef, TaskRef, due_shard
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.ports import PageOfOverdue


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
    """Where it stands in its shard: by due time, then by name."""
    return f"{overdue.due_at_ms:015d}#{overdue.ref.tenant}#{_name(overdue.ref)}"
