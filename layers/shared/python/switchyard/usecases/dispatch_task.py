"""Moves a job on after one of its tasks has settled.

Every step may run again at any point without harm: each write is conditional, each event has the id
and the time of the transition it tells, and a step found done already leads on to the next.
"""

from collections import deque
from collections.abc import Iterable

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import END, TaskRef
from switchyard.domain.readiness import decide_readiness
from switchyard.domain.states import TaskState
from switchyard.domain.task import Task
from switchyard.ports import Clock, JobStore, TaskGraph, TaskQueue
from switchyard.usecases import task_events
from switchyard.usecases.emitting import Emitter
from switchyard.usecases.settle_job import settle_job, tell_first_failure


class Dispatcher:
    def __init__(
        self,
        *,
        jobs: JobStore,
        graph: TaskGraph,
        queue: TaskQueue,
        emitter: Emitter,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._graph = graph
        self._queue = queue
        self._emitter = emitter
        self._clock = clock

    def dispatch(self, ref: TaskRef) -> None:
        """Do everything that follows from the settling of `ref`."""
        woken = self._graph.find(ref)
        if woken is None:
            raise UnknownTask(ref.request_id)
        settled = deque([woken] if woken.state.settled else [])  # redriven since: nothing to do
        while settled:
            settled.extend(self._follow(settled.popleft()))

    def start(self, ready: list[Task]) -> None:
        """Told before it is sent: once a worker may take it, nobody would find it untold."""
        if not ready:
            return
        self._emitter.emit(*[task_events.pending(task) for task in ready])
        self._queue.send([TaskMessage.to(task.ref, run=task.run) for task in ready])
        for task in ready:
            self._graph.mark_queued(task, now_ms=self._clock.now_ms())

    def _follow(self, task: Task) -> list[Task]:
        """Settle the edges that leave `task`; return what that settled in turn.

        What a worker settled is left to its own event, and what was dispatched before is left
        alone: else every event of a skipped chain would tell the rest of the chain again.
        """
        tell_first_failure(task, jobs=self._jobs, emitter=self._emitter, clock=self._clock)
        moved = [self._advance(task, name) for name in self._graph.dependents(task.ref)]
        self.start([child for child in moved if child.state is TaskState.READY])
        settled = [child for child in moved if _is_ours(child) and child.due_at_ms is not None]
        self._tell(settled)
        if task.ref.task_id == END:
            settle_job(task.ref.job, jobs=self._jobs, emitter=self._emitter, clock=self._clock)
        self._graph.clear_due(task)
        return settled

    def _advance(self, parent: Task, name: str) -> Task:
        completed = parent.state is TaskState.COMPLETED
        ref = parent.ref.job.task(name)
        child = self._graph.remove_edge(ref, parent.token, completed=completed)
        if child.state is not TaskState.WAITING or child.waiting_on:
            return child
        verdict = decide_readiness(child, self._states_of(child, child.not_completed))
        decided = self._graph.decide(child, verdict, now_ms=self._clock.now_ms())
        return decided or self._graph.find(ref) or child

    def _states_of(self, child: Task, names: Iterable[str]) -> dict[str, TaskState]:
        refs = [child.ref.job.task(name) for name in sorted(names)]
        tasks = self._graph.find_many(refs) if refs else {}
        return {name: task.state for name, task in tasks.items()}

    def _tell(self, settled: list[Task]) -> None:
        visible = [task for task in settled if not task.ref.hidden]
        self._emitter.emit(*[task_events.settled(task, output=None) for task in visible])


def _is_ours(task: Task) -> bool:
    """Settled, and by dispatching, never by a worker."""
    by_dispatching = task.ref.hidden or task.state in {TaskState.SKIPPED, TaskState.CANCELLED}
    return task.state.settled and by_dispatching
