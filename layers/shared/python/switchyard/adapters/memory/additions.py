"""Tasks that join a job, in memory."""

from collections.abc import Collection
from dataclasses import replace

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.errors import UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.jobs.chunks import Change, Chunk, Member, Surroundings
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task


class MemoryTaskAdditions:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def surroundings(self, ref: JobRef, names: Collection[str]) -> Surroundings:
        with self._state.lock:
            if ref not in self._state.jobs:
                raise UnknownJob(ref.job_id)
            refs = [ref.task(name) for name in names]
            return Surroundings(
                job=self._state.jobs[ref],
                end=self._state.tasks.get(ref.task(END)),
                members={
                    ref.task_id: Member(self._state.tasks[ref], self._state.dependents.get(ref, ()))
                    for ref in refs
                    if ref in self._state.tasks
                },
            )

    def add(self, chunk: Chunk) -> bool:
        with self._state.lock:
            if not self._is_as_read(chunk):
                return self._state.payloads.get(chunk.relay.ref) == chunk.added.payload()
            self._write(chunk)
            return True

    def _is_as_read(self, chunk: Chunk) -> bool:
        end = self._state.tasks[chunk.end.ref]
        return (
            _may_grow(self._state.jobs[chunk.job.ref], chunk)
            and (end.state, end.run) == (TaskState.WAITING, chunk.end.run)
            and (chunk.moved is None or end.waiting_on == chunk.end.waiting_on)
            and not any(task.ref in self._state.tasks for task in chunk.new_tasks)
            and all(map(self._unchanged, chunk.changes))
        )

    def _unchanged(self, change: Change) -> bool:
        ref, as_read = change.member.task.ref, change.member.dependents
        dependents = self._state.dependents.get(ref, ())
        return _same(self._state.tasks[ref], change.member.task) and (
            dependents == as_read if change.moves else len(dependents) == len(as_read)
        )

    def _write(self, chunk: Chunk) -> None:
        ref = chunk.job.ref
        job, end = self._state.jobs[ref], self._state.tasks[chunk.end.ref]
        left = end.waiting_on - ({chunk.moved.token} if chunk.moved else set())
        self._state.jobs[ref] = replace(
            job,
            total_tasks=job.total_tasks + len(chunk.added.task_ids),
            additions=job.additions + 1,
        )
        self._state.tasks[end.ref] = replace(end, waiting_on=left | {chunk.relay.token})
        self._state.tasks |= {task.ref: task for task in chunk.new_tasks}
        self._state.dependents |= {ref.task(n): names for n, names in chunk.dependents.items()}
        for change in chunk.changes:
            self._follow(change)
        self._state.payloads |= {ref.task(n): payload for n, payload in chunk.payloads.items()}

    def _follow(self, change: Change) -> None:
        ref = change.member.task.ref
        there = self._state.dependents[ref]
        self._state.dependents[ref] = (
            change.dependents if change.moves else (*there, *change.further)
        )


def _may_grow(job: Job, chunk: Chunk) -> bool:
    free = not job.cancel_requested and job.redrive_key is None
    has_room = job.total_tasks <= chunk.most_before
    return free and has_room and (job.state, job.run) == (JobState.OPEN, chunk.job.run)


def _same(task: Task, as_read: Task) -> bool:
    """Unsettled or not is what matters: who runs it may go on meanwhile."""
    known = as_read.state if as_read.state.settled else None
    return (task.run, task.state if task.state.settled else None) == (as_read.run, known)
