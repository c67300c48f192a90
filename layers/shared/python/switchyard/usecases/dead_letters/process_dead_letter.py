"""Decides what a dead letter of the task queue means for its task, and acts on it.

Every step may run again without harm: writes are conditional, events have stable ids, a needless
message costs a receive, and a message is parked under the same key each time.
"""

from dataclasses import dataclass

from switchyard.contracts.messages import (
    Delivered,
    ForeignTask,
    Malformed,
    TaskMessage,
    parse_message,
)
from switchyard.domain.errors import NewerVersion, Unavailable, UnknownDefinition, UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.dead_letters import (
    Drop,
    EmitAgain,
    SendAgain,
    SettleTask,
    decide_dead_letter,
)
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Clock, Payloads, TaskGraph, TaskLeases, TaskQueue
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emit_again import emit_again
from switchyard.usecases.events.emitting import Emitter


@dataclass(frozen=True, slots=True)
class Handled:
    """The task of the dead letter was found, and needs nothing more."""

    ref: TaskRef
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Parked:
    """No task was found for the dead letter; it is parked at `key`."""

    key: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class DeadLetterProcessor:
    tenant_id: str | None
    """The tenant of other producers' tasks; `None` if none are adopted."""
    graph: TaskGraph
    leases: TaskLeases
    payloads: Payloads
    queue: TaskQueue
    adopter: Adopter
    parking: MessageParking
    emitter: Emitter
    clock: Clock

    def process(self, letter: Delivered) -> Handled | Parked:
        """Process a dead letter; when this returns, the message may be deleted.

        Raise `Unavailable`: then it has to be received again.
        A message that only a newer version reads is parked, after the queue offered it to every
        worker: it can be redriven once that version runs, and meanwhile its task's due time sends
        another.
        """
        try:
            task = self._task_of(parse_message(letter, tenant=self.tenant_id))
        except (Malformed, NewerVersion, UnknownTask, UnknownDefinition) as problem:
            parked = self.parking.park(letter, str(problem))
            return Parked(parked.key, parked.reason)
        decision = decide_dead_letter(task, now_ms=self.clock.now_ms())
        missing = None
        match decision:
            case Drop():
                pass
            case EmitAgain():
                missing = emit_again(task, payloads=self.payloads, emitter=self.emitter)
            case SendAgain():
                message = TaskMessage.waking(task)
                self.queue.send([message], delay_seconds=decision.delay_seconds)
            case SettleTask():
                self._give_up(task, decision.outcome)
        reason = f"{decision.reason}; {missing}" if missing else decision.reason
        return Handled(task.ref, decision.action, reason)

    def _task_of(self, message: TaskMessage | ForeignTask) -> Task:
        """Find the task; adopt it if an outage prevented every worker from doing so."""
        task = self._find(message.ref)
        if task is None and isinstance(message, ForeignTask):
            self.adopter.adopt(message)
            task = self._find(message.ref)
        if task is None:
            raise UnknownTask(message.ref.request_id)
        return task

    def _find(self, ref: TaskRef) -> Task | None:
        return None if ref.hidden else self.graph.find(ref)

    def _give_up(self, task: Task, outcome: Outcome) -> None:
        settled = self.leases.give_up(task, outcome, now_ms=self.clock.now_ms())
        if settled is None:
            raise Unavailable(f"{task.ref.request_id} changed since it was read")
        self.emitter.emit(task_events.settled(settled, output=None))
