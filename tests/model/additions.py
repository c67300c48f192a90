"""A task that joins a job under way (`usecases/jobs/add_tasks.py`)."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Conflict, NotNow
from switchyard.domain.ids import END
from switchyard.domain.jobs import chunk_plan
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.additions import grouped
from switchyard.domain.jobs.chunks import Change, Chunk, ChunkContext, ExistingTask
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import edge_transitions
from tests.model.database import SOME_TIME, Draft, bounded_task
from tests.model.functions import Todo

ADDED: Final = "c"
RELAY: Final = "__added-1"
_CHUNKS: Final[dict[str, Chunk]] = {}
"""By what they contain: a chunk itself has no hash."""


@dataclass(frozen=True, slots=True)
class Add:
    """Writes a chunk in one transaction (`TaskAdder._added`, `TaskAdditions.add`)."""

    key: str

    def run(self, rest: Todo, draft: Draft) -> Todo:
        """Write everything, if everything is as it was read; else whoever asked reads again."""
        chunk = _CHUNKS[self.key]
        grown = of_jobs.add_tasks(chunk.job, added=1, most_before=chunk.most_before)
        waits = edge_transitions.follow_relay(chunk.end, chunk.relay, instead_of=chunk.moved)
        unchanged = all(_unchanged(change, draft) for change in chunk.changes)
        allowed = draft.allows(draft.job, grown) and draft.allows(draft.task(END), waits)
        if not (allowed and unchanged) or draft.find(ADDED) is not None:
            return rest
        draft.write_job(grown)
        draft.write(END, waits)
        _write(chunk, draft)
        _wake(draft)
        return rest


def requested(after: str, attempts: int, draft: Draft) -> Todo:
    """Read what the task comes after, and plan its chunk."""
    if draft.find(ADDED) is not None:
        return ()
    spec = TaskSpec(task_id=ADDED, name="", depends_on=(after,))
    (group,) = grouped([spec], number=1)
    existing = ExistingTask(draft.task(after), draft.dependents_of(after))
    seen = ChunkContext(job=draft.job, end=draft.task(END), existing_tasks={after: existing})
    try:
        chunk = chunk_plan.plan_chunk(
            group, seen, pinned={"": Pinned(1, attempts)}, at_ms=SOME_TIME
        )
    except (Conflict, NotNow):
        return ()
    assert chunk is not None
    key = repr(chunk)
    _CHUNKS[key] = chunk
    return (Add(key),)


def _write(chunk: Chunk, draft: Draft) -> None:
    for task in chunk.new_tasks:
        place = draft.names[task.ref.task_id]
        draft.tasks[place] = bounded_task(task, draft.clocks)
        draft.dependents[place] = chunk.dependents[task.ref.task_id]
    for change in chunk.changes:
        place = draft.names[change.existing.task.ref.task_id]
        draft.dependents[place] = (*draft.dependents[place], *change.further)


def _unchanged(change: Change, draft: Draft) -> bool:
    task = change.existing.task
    as_read = len(draft.dependents_of(task.ref.task_id)) == len(change.existing.dependents)
    return as_read and draft.allows(
        draft.task(task.ref.task_id), edge_transitions.stay_parent(task)
    )


def _wake(draft: Draft) -> None:
    """Wake whoever moves on what was decided at once (`TaskAdder._let_run`)."""
    added = draft.task(ADDED)
    if added.state is not TaskState.WAITING:
        draft.wake_dispatcher(added, by_event=added.state is TaskState.SKIPPED)
