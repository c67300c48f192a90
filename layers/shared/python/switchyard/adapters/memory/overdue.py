"""What is overdue, in memory."""

from dataclasses import replace

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import JobRef, TaskRef, due_shard
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
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
        with self._state.lock:
            match overdue:
                case Task():
                    return self._move_task(overdue, due_at_ms, resends=int(count))
                case Job():
                    return self._move_job(overdue, due_at_ms)

    def abandon(self, job: Job) -> bool:
        with self._state.lock:
            stored = self._state.jobs.get(job.ref)
            if stored is None or stored.state is not JobState.WRITING:
                return False
            return self._move_job(job, None)

    def _move_task(self, task: Task, due_at_ms: int, *, resends: int) -> bool:
        stored = self._state.tasks.get(task.ref)
        if stored is None or stored.due_at_ms != task.due_at_ms:
            return False
        moved = replace(stored, due_at_ms=due_at_ms, resends=stored.resends + resends)
        self._state.tasks[task.ref] = moved
        return True

    def _move_job(self, job: Job, due_at_ms: int | None) -> bool:
        stored = self._state.jobs.get(job.ref)
        if stored is None or stored.due_at_ms != job.due_at_ms:
            return False
        self._state.jobs[job.ref] = replace(stored, due_at_ms=due_at_ms)
        return True


def _name(ref: TaskRef | JobRef) -> str:
    return ref.request_id if isinstance(ref, TaskRef) else ref.job_id


def place_of(overdue: Task | Job) -> str:
    """Where it stands in its shard: by due time, then by name."""
    return f"{overdue.due_at_ms:015d}#{overdue.ref.tenant}#{_name(overdue.ref)}"
