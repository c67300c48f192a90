"""Moves a job on after some of its tasks have settled.

Every step may run again at any point without harm: each write is conditional, each event has the id
and the time of its transition, and a step found done already leads on to the next.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import NewerVersion, UnknownTask
from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import (
    Pace,
    SettledParent,
    is_free,
    is_left_to_newer,
    settled_by_following,
    take_batch,
)
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.domain.text import in_slices
from switchyard.ports import (
    Clock,
    DispatchQueue,
    Parallel,
    Payloads,
    TaskGraph,
    TaskQueue,
    TasksOfJob,
)
from switchyard.usecases.dispatching.conditions import Conditions
from switchyard.usecases.dispatching.edge_remover import EdgeRemover
from switchyard.usecases.dispatching.fan_outs import FanOutTasks
from switchyard.usecases.dispatching.held_tasks import HeldTasks
from switchyard.usecases.dispatching.settle_job import JobSettler
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emit_again import emit_added, emit_again
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.scheduling.marks import (
    MADE_READY_AT_ONCE,
    Marks,
    ReadyPace,
    places_of,
)

AT_ONCE: Final = 10  # as many as the bus and the queue take in one call


class Starter:
    """Starts ready tasks. Every step may be repeated: event ids are fixed, wake-ups harmless."""

    def __init__(
        self,
        *,
        graph: TaskGraph,
        queue: TaskQueue,
        held: HeldTasks,
        fan_outs: FanOutTasks,
        marks: Marks,
        emitter: Emitter,
        clock: Clock,
        parallel: Parallel,
    ) -> None:
        """`marks` are those that are set before tasks are in the ready index."""
        self.marks = marks
        self._pace = ReadyPace(clock)
        self._graph = graph
        self._queue = queue
        self._held = held
        self._fan_outs = fan_outs
        self._emitter = emitter
        self._clock = clock
        self._parallel = parallel

    def start(self, ready: Sequence[Task]) -> None:
        """Send the messages of tasks that a worker runs, and hold the others.

        A fan-out takes its time: it comes with a wake-up of its own.
        """
        run = [task for task in ready if task.kind is None]
        self._parallel.each(self._emit_and_send, list(in_slices(run, AT_ONCE)))
        with self.marks.around(places_of(run)):
            for some in in_slices(run, MADE_READY_AT_ONCE):
                self._pace.wait(some)
                self._parallel.each(self._mark, some)
        self._held.hold([task for task in ready if task.kind is not None and not task.fans_out])
        self._fan_outs.wake([task for task in ready if task.fans_out])

    def go_on(self, ready: Sequence[Task], *, until: float) -> list[Task]:
        """Go on with ready fan-outs; return them as they are then."""
        return [self._fan_outs.go_on(task, until=until) for task in ready if task.fans_out]

    def end_overdue(self, held: Sequence[Task]) -> list[Task]:
        """End those whose time is up; return them as they are then."""
        return self._held.end_overdue(held)

    def _emit_and_send(self, ready: Sequence[Task]) -> None:
        """Emit before sending: a missing event would not be noticed once a worker has the task."""
        self._emitter.emit(*[task_events.pending(task) for task in ready])
        self._queue.send([TaskMessage.waking(task) for task in ready])

    def _mark(self, task: Task) -> None:
        self._graph.mark_queued(task, now_ms=self._clock.now_ms())


class Dispatcher:
    def __init__(
        self,
        *,
        graph: TaskGraph,
        payloads: Payloads,
        settler: JobSettler,
        starter: Starter,
        dispatches: DispatchQueue,
        emitter: Emitter,
        clock: Clock,
        parallel: Parallel,
    ) -> None:
        self._graph = graph
        self._payloads = payloads
        self._starter = starter
        self._dispatches = dispatches
        self._emitter = emitter
        self._clock = clock
        self._parallel = parallel
        self._edges = EdgeRemover(
            graph=graph,
            conditions=Conditions(payloads),
            clock=clock,
            parallel=parallel,
        )
        self._settler = settler

    def dispatch(
        self, runs: Sequence[TaskRun], *, until: float, woken_by_event: bool = False
    ) -> None:
        """Do everything that follows from the settling of tasks of one job.

        When `until` has passed on the monotonic clock, what is left goes to the dispatch queue.
        A task that was sent here is started if it is ready. One that an event names is followed
        while it is due: a due time that is gone proves that everything was done. A task that has
        been redriven since is left alone: perhaps the event of its new run is not emitted yet.
        """
        found = self._find(runs)
        woken = [task for task in found.tasks.values() if task.this_run in runs]
        if not woken_by_event:
            woken = self._moved_on(woken, until, job_cancelled=found.job_cancelled)
        settled = [
            task
            for task in woken
            if task.state.settled and not (woken_by_event and task.due_at_ms is None)
        ]
        # The event of one that is not due was emitted before, perhaps in an earlier run of the job.
        self._settler.emit_first_failure([task for task in settled if task.due_at_ms is not None])
        self._follow_all(settled, until, job_cancelled=found.job_cancelled)

    def _moved_on(self, woken: Sequence[Task], until: float, *, job_cancelled: bool) -> list[Task]:
        """Decide, start or end what was sent here for that; return everything as it is then."""
        free = [task for task in woken if is_free(task)]
        decided = (
            self._edges.decide(free[0].ref.job, free, job_cancelled=job_cancelled) if free else []
        )
        self._emit([task for task in decided if settled_by_following(task)])
        others = [task for task in woken if not is_free(task)]
        self._emit_again([t for t in others if _may_be_unreported(t, job_cancelled=job_cancelled)])
        ended = {task.ref: task for task in self._starter.end_overdue(others)}
        if not job_cancelled:
            ready = [task for task in others if task.state is TaskState.READY]
            ended |= {task.ref: task for task in self._starter.go_on(ready, until=until)}
            started = [*(task for task in ready if not task.fans_out), *decided]
            self._starter.start([task for task in started if task.state is TaskState.READY])
        return [*decided, *(ended.get(task.ref, task) for task in others)]

    def follow_cancelled(self, settled: Sequence[Task], *, until: float) -> None:
        """Do what follows from tasks of a job that is being cancelled, whose events were emitted.

        The dispatcher that those events wake finds it done.
        """
        self._follow_all(settled, until, job_cancelled=True)

    def settle_dependents(self, settled: Sequence[Task], *, until: float) -> None:
        """Settle what depends on tasks of a job that is being cancelled, and emit no event.

        They stay due, and so does what is settled here: `follow_cancelled` comes when their events
        are emitted, and does also what is left when `until` has passed.
        """
        waiting = deque(self._with_edges(settled))
        known = {task.ref.task_id: task for task in settled}  # no such job is redriven
        for batch in self._batches(waiting, until):
            job = batch[0].task.ref.job
            moved = self._edges.remove_from(job, batch, job_cancelled=True, known=known)
            _require_known(moved)
            followed = [child for child in moved if settled_by_following(child)]
            known |= {task.ref.task_id: task for task in followed}
            waiting.extend(self._with_edges(followed))

    def _find(self, runs: Sequence[TaskRun]) -> TasksOfJob:
        refs = list(dict.fromkeys(one.ref for one in runs))
        found = self._graph.find_in_job(refs)
        for ref in refs:
            if ref.task_id not in found.tasks:
                raise UnknownTask(ref.request_id)
        return found

    def _follow_all(self, settled: Sequence[Task], until: float, *, job_cancelled: bool) -> None:
        waiting = deque(self._with_edges(settled))
        for batch in self._batches(waiting, until):
            parents = self._follow(batch, job_cancelled=job_cancelled)
            waiting.extend(self._with_edges(parents))
        self._leave([one.task.this_run for one in waiting])

    def _batches(
        self, waiting: deque[SettledParent], until: float
    ) -> Iterator[Sequence[SettledParent]]:
        """Take batches, each as large as the pace of the one before allows.

        The first is begun before `until`; a further one only if its first parent may be done then.
        """
        pace, allowed = Pace(), until
        while waiting and (began := self._clock.monotonic()) < allowed:
            batch = take_batch(waiting, edges=pace.edges_at_once)
            yield batch
            pace = Pace.of(batch, seconds=self._clock.monotonic() - began)
            allowed = until - pace.seconds_for(waiting[0]) if waiting else until

    def _leave(self, settled: Sequence[TaskRun]) -> None:
        self._parallel.each(self._dispatches.send, list(in_slices(settled, AT_ONCE)))

    def _with_edges(self, settled: Sequence[Task]) -> list[SettledParent]:
        """Read once a task has settled: until then others may be added behind it."""
        dependents = self._graph.edges_from(
            [task.ref for task in settled if task.ref.task_id != END]
        )
        return [SettledParent(task, dependents.get(task.ref.task_id, ())) for task in settled]

    def _follow(self, batch: Sequence[SettledParent], *, job_cancelled: bool) -> list[Task]:
        """Settle the edges that leave these tasks; return what that settled in turn.

        What is ready in a job that is being cancelled is left to the cancellation.
        """
        job = batch[0].task.ref.job
        moved = self._edges.remove_from(job, batch, job_cancelled=job_cancelled)
        if not job_cancelled:
            self._starter.start([child for child in moved if child.state is TaskState.READY])
        settled = [child for child in moved if settled_by_following(child)]
        self._settler.emit_first_failure(settled)
        self._emit([child for child in settled if not child.ref.hidden])
        _require_known(moved)
        done = self._finished([one.task for one in batch])
        self._clear_due([t for t in done if t.due_at_ms is not None], together=job_cancelled)
        return settled

    def _clear_due(self, tasks: Sequence[Task], *, together: bool) -> None:
        """Clear due times; `together` costs twice the write units, and far less time."""
        if together and len(tasks) > 1:
            self._graph.clear_due_of_many(tasks)
        else:
            self._parallel.each(self._graph.clear_due, tasks)

    def _emit(self, settled: Sequence[Task]) -> None:
        facts = [task_events.settled(task, output=None) for task in settled]
        self._parallel.each(lambda some: self._emitter.emit(*some), list(in_slices(facts, AT_ONCE)))

    def _emit_again(self, settled: Sequence[Task]) -> None:
        for task in settled:
            emit_again(task, payloads=self._payloads, emitter=self._emitter)

    def _finished(self, tasks: Sequence[Task]) -> list[Task]:
        """Do what follows beside their edges; leave out those where that has to be tried again."""
        added = [task for task in tasks if task.ref.task_id.startswith(ADDED_PREFIX)]
        self._parallel.each(self._emit_added, added)
        return [task for task in tasks if task.ref.task_id != END or self._settler.settle(task)]

    def _emit_added(self, relay: Task) -> None:
        emit_added(relay, graph=self._graph, payloads=self._payloads, emitter=self._emitter)


def _may_be_unreported(task: Task, *, job_cancelled: bool) -> bool:
    """Return whether the event of a settled task that was sent here may not be emitted yet.

    It was sent to be started or expanded, and has been cancelled or decided since: the
    function that did so emits the event later, or has died. Only the due time recovers it.
    """
    by_nobody = task.kind is not None or (job_cancelled and task.state is TaskState.CANCELLED)
    return by_nobody and task.state.settled and task.due_at_ms is not None and not task.ref.hidden


def _require_known(moved: Sequence[Task]) -> None:
    """Raise `NewerVersion`. Those that they followed stay due, so that a newer dispatcher comes by:
    nothing else would remove their edges from it.
    """
    for child in moved:
        if is_left_to_newer(child):
            raise NewerVersion(f"{child.ref.request_id} is in a state of a newer version")
