"""Opens a settled job again, as planned when that was asked for (`redrive_requests.py`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from switchyard.contracts.redrive_plans import read_plan
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redrive import (
    RedrivePlan,
    Reopening,
)
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload, Task
from switchyard.domain.text import in_slices
from switchyard.ports import (
    BlobStore,
    Clock,
    JobStore,
    OpenTasks,
    Parallel,
    Redriving,
)
from switchyard.usecases.dispatching.dispatch_task import AT_ONCE, Starter
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter, Fact

T = TypeVar("T")

AT_A_TIME: Final = 100  # between two pieces one looks at the clock


@dataclass(frozen=True, kw_only=True)
class Redriver:
    """A step of a job that is REDRIVING, or was and has not started all its tasks."""

    jobs: JobStore
    redriving: Redriving
    blobs: BlobStore
    starter: Starter
    open_tasks: OpenTasks
    emitter: Emitter
    clock: Clock
    parallel: Parallel

    def go_on(self, job: Job, *, until: float) -> bool:
        """Reopen waiting tasks, from `__end__` backwards; then the job; then start ready tasks."""
        plan = read_plan(self.blobs.get(job.redrive_key or ""))
        opened: Job | None = job
        if job.state is JobState.REDRIVING:
            if not (self._prepare(job, plan, until) and self._reopen_waiting(job, plan, until)):
                return False
            self._count(job, plan)
            opened = self.redriving.open(
                job, now_ms=self.clock.now_ms(), fewer_tasks=plan.fewer_tasks
            )
        if opened is None:
            return True  # another was faster, and has done the rest
        return self._start_ready(opened, plan, until) and self._end(opened)

    def _count(self, job: Job, plan: RedrivePlan) -> None:
        tasks, now_ms = len(_reopened(job.ref, plan)), self.clock.now_ms()
        self.open_tasks.note(job.ref, run=plan.run + 1, tasks=tasks, now_ms=now_ms)

    def _prepare(self, job: Job, plan: RedrivePlan, until: float) -> bool:
        """The relays first, so that no edge leads nowhere."""

        def prepare(names: Sequence[str]) -> None:
            self.parallel.each(lambda name: self.redriving.prepare(job.ref, plan, name), names)

        relays = list(plan.relays)
        others = [name for name in plan.edges if name not in plan.relays]
        return self._piecewise(job, relays, prepare, after=0, until=until) and self._piecewise(
            job, others, prepare, after=len(relays), until=until
        )

    def _reopen_waiting(self, job: Job, plan: RedrivePlan, until: float) -> bool:
        def reopen(some: Sequence[Reopening]) -> None:
            tasks = self._reopen(job.ref, plan, some)
            self._emit([self._redriven(plan, *pair, plan.asked_at_ms) for pair in tasks])

        return self._piecewise(job, plan.waiting, reopen, after=len(plan.edges), until=until)

    def _start_ready(self, job: Job, plan: RedrivePlan, until: float) -> bool:
        def start(some: Sequence[Reopening]) -> None:
            tasks = self._reopen(job.ref, plan, some)
            self._emit([self._redriven(plan, *pair, pair[0].ready_at_ms or 0) for pair in tasks])
            self._emit([_pending(*pair) for pair in tasks])
            self.starter.start([task for task, _ in tasks if task.state is TaskState.READY])

        before = len(plan.edges) + len(plan.waiting)
        return self._piecewise(job, plan.ready, start, after=before, until=until)

    def _piecewise(
        self,
        job: Job,
        things: Sequence[T],
        act: Callable[[Sequence[T]], None],
        *,
        after: int,
        until: float,
    ) -> bool:
        """Begin where the last one stopped; `after` is how much of the plan comes before."""
        done = max(job.written - after, 0)
        for some in in_slices(things[done:], AT_A_TIME):
            act(some)
            done += len(some)
            self.redriving.note(job, written=after + done)
            if done < len(things) and self.clock.monotonic() >= until:
                return False
        return True

    def _end(self, job: Job) -> bool:
        """End the redrive; the job may have settled meanwhile, as its tasks are started."""
        found = self.jobs.find(job.ref)
        if found is None or found.redrive_key != job.redrive_key:
            return True
        return self.redriving.end(found, now_ms=self.clock.now_ms())

    def _reopen(
        self, ref: JobRef, plan: RedrivePlan, some: Sequence[Reopening]
    ) -> list[tuple[Task, Reopening]]:
        def reopen(one: Reopening) -> Task | None:
            changed = one.task_id in plan.inputs
            given = Payload(input=plan.inputs[one.task_id]) if changed else None
            return self.redriving.reopen(ref, one, given=given, now_ms=self.clock.now_ms())

        tasks = self.parallel.each(reopen, some)
        return [(task, one) for task, one in zip(tasks, some, strict=True) if task is not None]

    def _redriven(self, plan: RedrivePlan, task: Task, one: Reopening, at_ms: int) -> Fact | None:
        if task.ref.hidden:
            return None
        return task_events.redriven(
            task, one, job_run=plan.run + 1, at_ms=at_ms, by=plan.requested_by
        )

    def _emit(self, facts: Sequence[Fact | None]) -> None:
        emitted = [fact for fact in facts if fact is not None]
        self.parallel.each(lambda some: self.emitter.emit(*some), list(in_slices(emitted, AT_ONCE)))


def _pending(task: Task, one: Reopening) -> Fact | None:
    """Emit the event of a task that a worker claimed at once by an old wake-up."""
    if task.state is TaskState.READY:
        return None
    return task_events.pending(replace(task, fence=one.fence + 1))


def _reopened(ref: JobRef, plan: RedrivePlan) -> list[str]:
    names = [one.task_id for one in (*plan.waiting, *plan.ready)]
    return [name for name in names if not ref.task(name).hidden]
