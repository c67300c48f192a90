"""Lets workers take tasks that have become ready."""

from collections.abc import Sequence
from typing import Final

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.slices import in_slices
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, TaskGraph, TaskQueue, Workforce
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter

AT_ONCE: Final = 10  # as many as the bus and the queue take in one call


class Starter:
    """Every step may run again: it is told under the same id, and a wake-up decides nothing."""

    def __init__(
        self,
        *,
        graph: TaskGraph,
        queue: TaskQueue,
        emitter: Emitter,
        clock: Clock,
        workforce: Workforce,
    ) -> None:
        self._graph = graph
        self._queue = queue
        self._emitter = emitter
        self._clock = clock
        self._workforce = workforce

    def start(self, ready: Sequence[Task]) -> None:
        self._workforce.each(self._tell_and_send, list(in_slices(ready, AT_ONCE)))
        self._workforce.each(self._mark, ready)

    def _tell_and_send(self, ready: Sequence[Task]) -> None:
        """Told before it is sent: once a worker may take it, nobody would find it untold."""
        self._emitter.emit(*[task_events.pending(task) for task in ready])
        self._queue.send([TaskMessage.waking(task) for task in ready])

    def _mark(self, task: Task) -> None:
        self._graph.mark_queued(task, now_ms=self._clock.now_ms())
