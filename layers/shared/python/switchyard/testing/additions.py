"""In-memory twins of what adds and adopts tasks."""

from collections.abc import Collection

from switchyard.domain.errors import UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.adoption import Adoption
from switchyard.domain.jobs.chunks import Change, Chunk, ChunkContext, ExistingTask
from switchyard.domain.tasks import edge_transitions
from switchyard.domain.tasks.task import Payload
from switchyard.domain.transition import holds
from switchyard.testing.state import MemoryState


class MemoryTaskAdditions:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def chunk_context(self, ref: JobRef, names: Collection[str]) -> ChunkContext:
        with self._state.lock:
            if ref not in self._state.jobs:
                raise UnknownJob(ref.job_id)
            refs = [ref.task(name) for name in names]
            return ChunkContext(
                job=self._state.jobs[ref],
                end=self._state.tasks.get(ref.task(END)),
                existing_tasks={
                    ref.task_id: ExistingTask(
                        self._state.tasks[ref], self._state.dependents.get(ref, ())
                    )
                    for ref in refs
                    if ref in self._state.tasks
                },
            )

    def add(self, chunk: Chunk) -> bool:
        grown = of_jobs.add_tasks(
            chunk.job, added=len(chunk.added.task_ids), most_before=chunk.most_before
        )
        waits = edge_transitions.follow_relay(chunk.end, chunk.relay, instead_of=chunk.moved)
        with self._state.lock:
            job, end = self._state.jobs[chunk.job.ref], self._state.tasks[chunk.end.ref]
            as_read = holds(grown.guard, job) and holds(waits.guard, end)
            if not as_read or not self._others_are_as_read(chunk):
                return self._state.payloads.get(chunk.relay.ref) == chunk.added.payload()
            self._state.write_job(job.ref, grown)
            self._state.write_task(end.ref, waits)
            self._write(chunk)
            return True

    def _others_are_as_read(self, chunk: Chunk) -> bool:
        new = not any(task.ref in self._state.tasks for task in chunk.new_tasks)
        return new and all(map(self._unchanged, chunk.changes))

    def _unchanged(self, change: Change) -> bool:
        task, as_read = change.existing.task, change.existing.dependents
        dependents = self._state.dependents.get(task.ref, ())
        return holds(edge_transitions.stay_parent(task).guard, self._state.tasks[task.ref]) and (
            dependents == as_read if change.moves else len(dependents) == len(as_read)
        )

    def _write(self, chunk: Chunk) -> None:
        ref = chunk.job.ref
        self._state.tasks |= {task.ref: task for task in chunk.new_tasks}
        self._state.dependents |= {ref.task(n): names for n, names in chunk.dependents.items()}
        for change in chunk.changes:
            self._follow(change)
        self._state.payloads |= {ref.task(n): payload for n, payload in chunk.payloads.items()}

    def _follow(self, change: Change) -> None:
        ref = change.existing.task.ref
        there = self._state.dependents[ref]
        self._state.dependents[ref] = (
            change.dependents if change.moves else (*there, *change.further)
        )


class MemoryTaskAdoption:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def adopt(self, adoption: Adoption) -> bool:
        task = adoption.task
        with self._state.lock:
            if task.ref in self._state.tasks:
                return False
            self._state.tasks[task.ref] = task
            self._state.payloads[task.ref] = Payload(input=adoption.input, context=adoption.context)
            return True
