"""Cancels a task, or a job: asked for by the API, carried out by the dispatcher."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.changes import CancelAccepted, TaskCancelAccepted
from switchyard.domain.errors import Conflict, NotNow, Unavailable, UnknownJob, UnknownTask
from switchyard.domain.ids import END, JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.slices import in_slices
from switchyard.domain.states import JobState, TaskState, task_status
from switchyard.domain.tasks.cancelling import Leave, Settle, decide_cancel
from switchyard.domain.tasks.task import Task
from switchyard.ports import Cancelling, Clock, DispatchQueue, JobStore, TaskGraph, Workforce
from switchyard.usecases.dispatching.start_tasks import AT_ONCE
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter

VISITED_AT_ONCE: Final = 100
TRIES: Final = 5


@dataclass(frozen=True, kw_only=True)
class CancelRequests:
    jobs: JobStore
    graph: TaskGraph
    cancelling: Cancelling
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock

    def request_cancel(
        self, ref: JobRef, *, run: int | None = None, by: str | None = None
    ) -> CancelAccepted:
        """The tasks are visited later. Asking again is answered the same, and visits them again.

        `run` is the one that was looked at, if that matters; `by` a person, where one is known.
        """
        job = self._job(ref)
        problem = job.problem_with_run(run)
        if problem:
            raise Conflict(problem)
        if not self.cancelling.begin(job, now_ms=self.clock.now_ms(), by=by):
            raise NotNow(f"{ref.job_id} changed at the same time; try again in a moment")
        self.dispatches.send([ref])
        return CancelAccepted(job_id=ref.job_id, status="cancelling")

    def cancel_task(self, ref: TaskRef) -> TaskCancelAccepted:
        """It is settled at once, or by whoever runs it or decides about it."""
        self._job(ref.job)
        task = self._cancelled(ref)
        if task.state is TaskState.CANCELLED:
            self.emitter.emit(task_events.settled(task, output=None))
        return TaskCancelAccepted(
            job_id=ref.job_id,
            task_id=ref.task_id,
            request_id=ref.request_id,
            status=task_status(task.state, attempt=task.attempt),
        )

    def _job(self, ref: JobRef) -> Job:
        job = self.jobs.find(ref)
        if job is None:
            raise UnknownJob(ref.job_id)
        if job.state.settled:
            raise Conflict(f"{ref.job_id} has settled already: {job.state.value.lower()}")
        if job.state is JobState.WRITING:
            raise NotNow(f"{ref.job_id} is still being written; try again in a moment")
        if job.redrive_key:
            raise NotNow(f"{ref.job_id} is being redriven; try again in a moment")
        return job

    def _cancelled(self, ref: TaskRef) -> Task:
        for _ in range(TRIES):
            task = None if ref.hidden else self.graph.find(ref)
            if task is None:
                raise UnknownTask(ref.request_id)
            if task.state.settled and task.state is not TaskState.CANCELLED:
                raise Conflict(f"{ref.request_id} has settled already: {_status(task)}")
            cancelled = self.cancelling.cancel(task, now_ms=self.clock.now_ms())
            if cancelled is not None:
                return cancelled
        raise Unavailable(f"{ref.request_id} changes faster than it can be cancelled")


@dataclass(frozen=True, kw_only=True)
class Canceller:
    """A step of a job that is CANCELLING."""

    jobs: JobStore
    graph: TaskGraph
    cancelling: Cancelling
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    workforce: Workforce

    def go_on(self, job: Job, *, until: float) -> bool:
        """Visit every task until none is left that has to be settled or flagged."""
        while left := self._left(job.ref):
            for some in in_slices(left, VISITED_AT_ONCE):
                self._visit(some)
                if self.clock.monotonic() >= until:
                    return False
        self.cancelling.end(job, now_ms=self.clock.now_ms())
        self._settle_if_ended(job.ref)
        return True

    def _left(self, ref: JobRef) -> list[Task]:
        """Flags first: what follows a cancelled task is cancelled then, not skipped."""
        decisions = [(task, decide_cancel(task)) for task in self.jobs.picture(ref).tasks]
        left = [(task, decision) for task, decision in decisions if not isinstance(decision, Leave)]
        left.sort(key=lambda found: isinstance(found[1], Settle))
        return [task for task, _ in left]

    def _visit(self, tasks: Sequence[Task]) -> None:
        """Those that changed since they were read are visited again."""
        visited = self.workforce.each(self._cancel, tasks)
        settled = [task for task in visited if task and task.state is TaskState.CANCELLED]
        facts = [task_events.settled(task, output=None) for task in settled]
        self.workforce.each(lambda some: self.emitter.emit(*some), list(in_slices(facts, AT_ONCE)))

    def _cancel(self, task: Task) -> Task | None:
        return self.cancelling.cancel(task, now_ms=self.clock.now_ms())

    def _settle_if_ended(self, ref: JobRef) -> None:
        """While it was CANCELLING nobody could settle it; read after it is no longer."""
        end = self.graph.find(ref.task(END))
        if end is not None and end.state.settled:
            self.dispatches.send([end.this_run])


def _status(task: Task) -> str:
    return task_status(task.state, attempt=task.attempt)
