"""Cancels a task, or a job: asked for by the API, carried out by the dispatcher."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from switchyard.contracts.changes import CancelAccepted, TaskCancelAccepted
from switchyard.domain.errors import Conflict, NotNow, Unavailable, UnknownJob, UnknownTask
from switchyard.domain.ids import END, JobRef, TaskRef
from switchyard.domain.jobs.cancel_cursor import CancelCursor, Pass
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState, task_status
from switchyard.domain.tasks.task import Task
from switchyard.domain.text import in_slices
from switchyard.ports import Cancelling, Clock, DispatchQueue, JobStore, TaskGraph
from switchyard.usecases.dispatching.dispatch_task import AT_ONCE
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter

VISITED_AT_ONCE: Final = 1_000  # two seconds of writes: between two pages one looks at the clock
TRIES: Final = 5
NEVER: Final = math.inf


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
        """Settle the task at once, or leave that to its worker or the dispatcher."""
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


class Follower(Protocol):
    """Does what follows from tasks that a cancellation settled."""

    def settle_dependents(self, settled: Sequence[Task], *, until: float) -> None:
        """Settle what depends on them. All stay due: their events are emitted later."""

    def follow_cancelled(self, settled: Sequence[Task], *, until: float) -> None:
        """Settle what depends on them, whose events were emitted: they are due no more."""


@dataclass(frozen=True, kw_only=True)
class Canceller:
    """A step of a job that is CANCELLING.

    It goes through the job page by page: first it settles what a worker could take and flags what
    runs, then it flags the tasks that wait, if it met any, and when the job has settled it emits
    the events of its tasks. No task is added to such a job, and none becomes ready in it. A task
    whose event was not emitted is due, so that the sweeper emits it should this step be lost.
    """

    graph: TaskGraph
    cancelling: Cancelling
    follower: Follower
    emitter: Emitter
    clock: Clock

    def go_on(self, job: Job, *, until: float) -> bool:
        """Go on where the last step stopped, until all events of the tasks were emitted."""
        cursor = CancelCursor.parse(job.cancel_cursor)
        if job.state is JobState.CANCELLING:
            if not self._cancel_all(job, cursor, until):
                return False
            cursor = CancelCursor(Pass.EVENTS)
            self.cancelling.end(job, now_ms=self.clock.now_ms(), cursor=str(cursor))
            self._settle_if_ended(job.ref, until=NEVER)
            if self.clock.monotonic() >= until:
                return False
        return self._report_all(job, cursor, until)

    def _cancel_all(self, job: Job, start: CancelCursor, until: float) -> bool:
        """Settle or flag every task; `False` when the time was over before."""
        cursor: CancelCursor | None = start
        while cursor is not None:
            began = self.clock.monotonic()
            page = self.cancelling.page(job.ref, after=cursor.after, at_most=VISITED_AT_ONCE)
            wanted = [task for task in page if cursor.wants(task)]
            cursor = cursor.beyond(page, missed=not self._visit(wanted, cursor, until))
            if cursor is not None and self._no_time_for_another(until, began=began):
                self.cancelling.note_progress(job, str(cursor))
                return False
        return True

    def _report_all(self, job: Job, start: CancelCursor, until: float) -> bool:
        """Emit the event of every task that was settled; `False` when the time was over before."""
        cursor: CancelCursor | None = start
        while cursor is not None:
            began = self.clock.monotonic()
            page = self.cancelling.page(job.ref, after=cursor.after, at_most=VISITED_AT_ONCE)
            self._report([task for task in page if cursor.wants(task)], until)
            cursor = cursor.beyond(page)
            if cursor is not None and self._no_time_for_another(until, began=began):
                self.cancelling.note_reported(job, str(cursor))
                return False
        self.cancelling.note_reported(job, None)
        return True

    def _no_time_for_another(self, until: float, *, began: float) -> bool:
        """Whether a page that takes as long as the one that began then would end after `until`.

        A step that is cut off is lost for minutes, and edges that it had no time for are removed
        only when the events are emitted: the job would settle last.
        """
        now = self.clock.monotonic()
        return now + (now - began) >= until

    def _visit(self, tasks: Sequence[Task], cursor: CancelCursor, until: float) -> bool:
        """Visit those that changed since they were read again; `False` when some went on changing.

        Raise `Unavailable` instead in the last pass that could visit them.
        """
        for _ in range(TRIES):
            if not tasks:
                return True
            visited = self.cancelling.cancel_many(tasks, now_ms=self.clock.now_ms())
            settled = [task for task in visited if task and task.state is TaskState.CANCELLED]
            self.follower.settle_dependents(settled, until=until)
            changed = [task.ref for task, now in zip(tasks, visited, strict=True) if now is None]
            found = self.graph.find_many(changed) if changed else {}
            tasks = [task for task in found.values() if cursor.wants(task)]
        if tasks and cursor.step is Pass.ALL:
            raise Unavailable(f"{tasks[0].ref.request_id} changes faster than it can be cancelled")
        return not tasks

    def _report(self, settled: Sequence[Task], until: float) -> None:
        """Emit one batch after the other: the job has settled, and others are not to wait."""
        visible = [task for task in settled if not task.ref.hidden]
        facts = [task_events.settled(task, output=None) for task in visible]
        for some in in_slices(facts, AT_ONCE):
            self.emitter.emit(*some)
        self.follower.follow_cancelled(settled, until=until)

    def _settle_if_ended(self, ref: JobRef, *, until: float) -> None:
        """Settle the job if all has ended: nothing could settle it while it was CANCELLING.

        Done here, whatever time is left: a message would wait behind those that the events of its
        tasks send.
        """
        end = self.graph.find(ref.task(END))
        if end is not None and end.state.settled:
            self.follower.follow_cancelled([end], until=until)


def _status(task: Task) -> str:
    return task_status(task.state, attempt=task.attempt)
