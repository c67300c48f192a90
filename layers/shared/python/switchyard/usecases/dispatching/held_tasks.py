"""Holds tasks that no worker runs, and ends those whose time has come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.holds import Hold, hold_of, time_is_up
from switchyard.domain.tasks.task import Task
from switchyard.domain.text import in_slices
from switchyard.ports import Clock, Parallel, Payloads, TaskGraph
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.signals.subscribe import SignalSubscriber

AT_ONCE: Final = 10  # as many as the bus takes in one call


@dataclass(frozen=True, kw_only=True)
class HeldTasks:
    graph: TaskGraph
    payloads: Payloads
    subscriber: SignalSubscriber
    emitter: Emitter
    clock: Clock
    parallel: Parallel

    def hold(self, ready: Sequence[Task]) -> None:
        """Emit that these are held, then hold them: a crash in between leaves them ready and due.

        Before, what an event is to end is stored: once a signal is held, no such event is missed.

        May run again: the event has the id and the time of the task's becoming ready.
        """
        holds = {task.ref: self._hold_of(task) for task in ready}
        able = [task for task in ready if self.subscriber.subscribe(task, holds[task.ref])]
        for some in in_slices(able, AT_ONCE):
            self.emitter.emit(*[task_events.held(task, holds[task.ref]) for task in some])
        self.parallel.each(lambda task: self._write(task, holds[task.ref]), able)

    def end_overdue(self, tasks: Sequence[Task]) -> list[Task]:
        """End those whose time is up, emit that, and return them as they are now."""
        now_ms = self.clock.now_ms()
        over = [t for t in tasks if t.state is TaskState.HELD and t.held_until_ms <= now_ms]
        ended = [self._end(task, now_ms) for task in over]
        return [task for task in ended if task is not None]

    def _end(self, task: Task, now_ms: int) -> Task | None:
        hold = self._hold_of(task)
        resolution = time_is_up(hold, held_since_ms=task.ready_at_ms or now_ms, now_ms=now_ms)
        ended = self.graph.resolve(task, resolution, now_ms=now_ms)
        if ended is not None:
            self.emitter.emit(task_events.settled(ended, output=resolution.output))
        return ended

    def _hold_of(self, task: Task) -> Hold:
        payload = self.payloads.read(task.ref)
        return hold_of(task.kind or TaskKind.SIGNAL, payload.hold)

    def _write(self, task: Task, hold: Hold) -> None:
        until_ms = hold.ends_at_ms(task.ready_at_ms or self.clock.now_ms())
        self.graph.hold(task, held_until_ms=until_ms)
