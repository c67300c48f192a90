"""Moves a job on after some of its tasks have settled.

Every step may run again at any point without harm: each write is conditional, each event has the id
and the time of the transition it tells, and a step found done already leads on to the next.
"""

from collections import deque
from collections.abc import Sequence

from switchyard.domain.errors import NewerVersion, UnknownTask
from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.slices import in_slices
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.following import Followed, is_left_to_newer, lots, settled_by_following
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.ports import Clock, DispatchQueue, Payloads, TaskGraph, TasksOfJob, Workforce
from switchyard.usecases.dispatching.remove_edges import EdgeRemover
from switchyard.usecases.dispatching.settle_job import JobSettler
from switchyard.usecases.dispatching.start_tasks import AT_ONCE, Starter
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.events.tell_added import tell_added


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
        workforce: Workforce,
    ) -> None:
        self._graph = graph
        self._payloads = payloads
        self._starter = starter
        self._dispatches = dispatches
        self._emitter = emitter
        self._clock = clock
        self._workforce = workforce
        self._edges = EdgeRemover(graph=graph, clock=clock, workforce=workforce)
        self._settler = settler

    def dispatch(
        self, runs: Sequence[TaskRun], *, until: float, woken_by_event: bool = False
    ) -> None:
        """Do everything that follows from the settling of tasks of one job.

        When `until` has passed on the monotonic clock, what is left goes to the dispatch queue.
        Whoever was sent here is started if it is ready. Whoever was woken by an event is followed
        while it is due: a due time that is gone proves that everything was done. A task that has
        been redriven since is left alone: perhaps nobody has told yet how its new run ended.
        """
        found = self._find(runs)
        woken = [task for task in found.tasks.values() if task.this_run in runs]
        if not woken_by_event and not found.job_cancelled:
            self._starter.start([task for task in woken if task.state is TaskState.READY])
        settled = [
            task
            for task in woken
            if task.state.settled and not (woken_by_event and task.due_at_ms is None)
        ]
        # One that is not due was told of before, perhaps in an earlier run of the job.
        self._settler.tell_first_failure([task for task in settled if task.due_at_ms is not None])
        self._follow_all(settled, until, job_cancelled=found.job_cancelled)

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
        waiting = deque(lots(self._with_edges(settled)))
        while waiting and self._clock.monotonic() < until:
            lot = waiting.popleft()
            moved = self._edges.remove_from(lot[0].task.ref.job, lot, job_cancelled=True)
            _require_known(moved)
            settled_now = [child for child in moved if settled_by_following(child)]
            waiting.extend(lots(self._with_edges(settled_now)))

    def _find(self, runs: Sequence[TaskRun]) -> TasksOfJob:
        refs = list(dict.fromkeys(one.ref for one in runs))
        found = self._graph.find_in_job(refs)
        for ref in refs:
            if ref.task_id not in found.tasks:
                raise UnknownTask(ref.request_id)
        return found

    def _follow_all(self, settled: Sequence[Task], until: float, *, job_cancelled: bool) -> None:
        waiting = deque(lots(self._with_edges(settled)))
        while waiting:
            if self._clock.monotonic() >= until:
                self._leave([one.task.this_run for lot in waiting for one in lot])
                return
            followed = self._follow(waiting.popleft(), job_cancelled=job_cancelled)
            waiting.extend(lots(self._with_edges(followed)))

    def _leave(self, settled: Sequence[TaskRun]) -> None:
        self._workforce.each(self._dispatches.send, list(in_slices(settled, AT_ONCE)))

    def _with_edges(self, settled: Sequence[Task]) -> list[Followed]:
        """Read once a task has settled: until then others may be added behind it."""
        dependents = self._graph.edges_from(
            [task.ref for task in settled if task.ref.task_id != END]
        )
        return [Followed(task, dependents.get(task.ref.task_id, ())) for task in settled]

    def _follow(self, lot: Sequence[Followed], *, job_cancelled: bool) -> list[Task]:
        """Settle the edges that leave these tasks; return what that settled in turn.

        What is ready in a job that is being cancelled is left to the cancellation.
        """
        job = lot[0].task.ref.job
        moved = self._edges.remove_from(job, lot, job_cancelled=job_cancelled)
        if not job_cancelled:
            self._starter.start([child for child in moved if child.state is TaskState.READY])
        settled = [child for child in moved if settled_by_following(child)]
        self._tell([child for child in settled if not child.ref.hidden])
        _require_known(moved)
        done = self._finished([one.task for one in lot])
        self._clear_due([t for t in done if t.due_at_ms is not None], together=job_cancelled)
        return settled

    def _clear_due(self, tasks: Sequence[Task], *, together: bool) -> None:
        """Together costs twice the write units, and far less time."""
        if together and len(tasks) > 1:
            self._graph.clear_due_of_many(tasks)
        else:
            self._workforce.each(self._graph.clear_due, tasks)

    def _tell(self, settled: Sequence[Task]) -> None:
        facts = [task_events.settled(task, output=None) for task in settled]
        self._workforce.each(
            lambda some: self._emitter.emit(*some), list(in_slices(facts, AT_ONCE))
        )

    def _finished(self, tasks: Sequence[Task]) -> list[Task]:
        """Do what follows beside their edges; leave out those where that has to be tried again."""
        added = [task for task in tasks if task.ref.task_id.startswith(ADDED_PREFIX)]
        self._workforce.each(self._tell_added, added)
        return [task for task in tasks if task.ref.task_id != END or self._settler.settle(task)]

    def _tell_added(self, relay: Task) -> None:
        tell_added(relay, graph=self._graph, payloads=self._payloads, emitter=self._emitter)


def _require_known(moved: Sequence[Task]) -> None:
    """Raise `NewerVersion`. Those that they followed stay due, so that a newer dispatcher comes by:
    nothing else would tell it that their edges are gone.
    """
    for child in moved:
        if is_left_to_newer(child):
            raise NewerVersion(f"{child.ref.request_id} is in a state of a newer version")
