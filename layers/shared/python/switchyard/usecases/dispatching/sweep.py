"""Finds what a crash, a lost message or a lost event left behind, and nudges it on.

It decides nothing that is not decided elsewhere: it sends wake-ups to workers and dispatcher, and
emits stored events again. May run at any time, also twice at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import DUE_SHARDS, START, JobRef, TaskRef
from switchyard.domain.jobs.chunks import AddedTasks, added_relay
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.overdue import (
    Action,
    Step,
    decide_job_step,
    decide_task_step,
    forgotten_parents,
)
from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.tasks.task import Task
from switchyard.ports import (
    Clock,
    DispatchQueue,
    JobStore,
    OpenTasks,
    Overdue,
    Payloads,
    ReadyIndex,
    TaskGraph,
    TaskQueue,
)
from switchyard.usecases.dispatching.dispatch_task import Starter
from switchyard.usecases.events import job_events
from switchyard.usecases.events.emit_again import emit_again
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.scheduling.marks import places_of

REFS_PER_PAGE: Final = 25  # small, so that no shard waits behind another's thousands
MOVED_BACK_BY_OTHERS: Final = (Partition.HELD, Partition.LIMITED)
"""Where tasks wait without a message, until a pause ends or a limit has room."""
CLOCK_CORRECTED_MS: Final = 10_000  # no answer takes so long, usually


@dataclass(frozen=True, slots=True)
class Nudge:
    """An action on one overdue item, and its reason; `error` says why it could not be done."""

    ref: TaskRef | JobRef
    action: Action
    reason: str
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sweeper:
    overdue: Overdue
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    open_tasks: OpenTasks
    queue: TaskQueue
    dispatches: DispatchQueue
    starter: Starter
    index: ReadyIndex
    emitter: Emitter
    clock: Clock

    def sweep(self, *, at_most: int, seconds: float) -> Iterator[Nudge]:
        """Look at `at_most` overdue things for about `seconds`; the next run finds the rest.

        `Unavailable` ends a run. What was rejected is that thing's own trouble, and is reported.
        """
        deadline = self.clock.monotonic() + seconds
        for ref in islice(self._refs(), at_most):
            if self.clock.monotonic() >= deadline:
                return
            yield self._nudge(ref)

    def _refs(self) -> Iterator[TaskRef | JobRef]:
        """The shards take turns, so that a full one does not hide the others.

        A function that has just started learns the time from its first answer: a page that was
        asked for with a clock far behind is asked for again.
        """
        cursors: dict[int, str | None] = dict.fromkeys(range(DUE_SHARDS))
        while cursors:
            for shard, cursor in list(cursors.items()):
                now_ms = self.clock.now_ms()
                page = self.overdue.page(shard, now_ms=now_ms, limit=REFS_PER_PAGE, cursor=cursor)
                corrected = self.clock.now_ms() > now_ms + CLOCK_CORRECTED_MS
                yield from page.refs
                cursors[shard] = page.cursor
                if page.cursor is None and not corrected:
                    del cursors[shard]

    def _nudge(self, ref: TaskRef | JobRef) -> Nudge:
        found, step = self._decide(ref)
        if found is None or step.action is Action.LEAVE:
            return Nudge(ref, step.action, step.reason)
        if not self._take(found, step):
            return Nudge(ref, Action.LEAVE, "another process was faster")
        try:
            self._act(found, step.action)
        except Rejected as error:
            return Nudge(ref, step.action, step.reason, str(error))
        return Nudge(ref, step.action, step.reason)

    def _decide(self, ref: TaskRef | JobRef) -> tuple[Task | Job | None, Step]:
        """Read it consistently: the index may lag."""
        if isinstance(ref, JobRef):
            job = self.jobs.find(ref)
            return job, decide_job_step(job, now_ms=self.clock.now_ms())
        task = self.graph.find(ref)
        return task, decide_task_step(task, now_ms=self.clock.now_ms())

    def _take(self, found: Task | Job, step: Step) -> bool:
        """Move the due time before acting: only the run that moved it acts."""
        if step.due_at_ms is None:
            return isinstance(found, Job) and self._abandoned(found)
        return self.overdue.move_due(found, step.due_at_ms, count=step.action.nudges)

    def _abandoned(self, job: Job) -> bool:
        """Count it no more: its submission never ended, and nothing of it can run."""
        if not self.overdue.abandon(job):
            return False
        self.open_tasks.close(job.ref, run=job.run)
        return True

    def _act(self, found: Task | Job, action: Action) -> None:
        match found, action:
            case Task() as task, _:
                self._act_on_task(task, action)
            case Job() as job, Action.AUDIT:
                self.dispatches.send(forgotten_parents(self.jobs.picture(job.ref).tasks))
            case Job() as job, Action.ADVANCE:
                self.dispatches.send([job.ref])

    def _act_on_task(self, task: Task, action: Action) -> None:
        match action:
            case Action.START:
                self.starter.start([task])
            case Action.RESEND | Action.WAKE:
                self._enter_index(task)
                if partition_of(task) not in MOVED_BACK_BY_OTHERS:
                    self.queue.send([TaskMessage.waking(task)])
            case Action.DECIDE | Action.END_HOLD:
                self.dispatches.send([task.this_run])
            case Action.DISPATCH:
                missing = self._emit(task)
                self.dispatches.send([task.this_run])
                if missing:
                    raise Rejected(missing)

    def _enter_index(self, task: Task) -> None:
        """Mark its tenant, and write a key that is missing: an older version wrote none."""
        with self.starter.marks.around(places_of([task])):
            if task.ready_in is None:
                self.index.enter(task, now_ms=self.clock.now_ms())

    def _emit(self, task: Task) -> str | None:
        """Emit the task's event, which may be missing; its consumer clears the due time."""
        if task.ref.task_id == START:
            self._emit_creation(task.ref.job)
        if task.ref.hidden:
            return None
        return emit_again(task, payloads=self.payloads, emitter=self.emitter)

    def _emit_creation(self, ref: JobRef) -> None:
        """Emit the job's event as before, though tasks may have been added since."""
        picture = self.jobs.picture(ref)
        added = self._added(ref)
        declared = [task for task in picture.visible_tasks if not task.ref.fan_out]
        tasks = [task for task in declared if task.ref.task_id not in added]
        payloads = self.payloads.read_many([task.ref for task in tasks])
        job = replace(picture.job, total_tasks=len(tasks))
        self.emitter.emit(job_events.created(job, tasks, payloads))

    def _added(self, ref: JobRef) -> set[str]:
        """Read the chunks' relays after the tasks, so that no chunk comes between the two."""
        job = self.jobs.find(ref)
        numbers = range(1, job.additions + 1) if job else ()
        refs = [ref.task(added_relay(number)) for number in numbers]
        chunks = map(AddedTasks.of, self.payloads.read_many(refs).values())
        return {task_id for chunk in chunks for task_id in chunk.task_ids}
