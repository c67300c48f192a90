"""Finds out what a dead letter of the task queue means, and does it.

Every step may run again without harm: writes are conditional, events have the ids of what they
tell, a needless message costs a receive, and what is put aside lands on the same key.
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
    GiveUp,
    SendAgain,
    TellAgain,
    decide_dead_letter,
)
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Clock, Payloads, TaskGraph, TaskLeases, TaskQueue
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.events.tell_again import tell_again
from switchyard.usecases.letters.quarantine import Quarantine


@dataclass(frozen=True, slots=True)
class Handled:
    """Its task is dealt with."""

    ref: TaskRef
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class PutAside:
    """Nobody knows its task; it is kept at `key`."""

    key: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class DeadLetterProcessor:
    tenant_id: str | None
    """Whose other producers' tasks are; `None` if none are taken in."""
    graph: TaskGraph
    leases: TaskLeases
    payloads: Payloads
    queue: TaskQueue
    adopter: Adopter
    quarantine: Quarantine
    emitter: Emitter
    clock: Clock

    def process(self, letter: Delivered) -> Handled | PutAside:
        """When this returns, the letter may go. Raise `Unavailable`: then it has to come back.

        What only a newer version reads is parked, after the queue offered it to every worker: it
        can be redriven once that version runs, and its task's due time sends another meanwhile.
        """
        try:
            task = self._task_of(parse_message(letter, tenant=self.tenant_id))
        except (Malformed, NewerVersion, UnknownTask, UnknownDefinition) as problem:
            kept = self.quarantine.keep(letter, str(problem))
            return PutAside(kept.key, kept.reason)
        decision = decide_dead_letter(task, now_ms=self.clock.now_ms())
        missing = None
        match decision:
            case Drop():
                pass
            case TellAgain():
                missing = tell_again(task, payloads=self.payloads, emitter=self.emitter)
            case SendAgain():
                message = TaskMessage.waking(task)
                self.queue.send([message], delay_seconds=decision.delay_seconds)
            case GiveUp():
                self._give_up(task, decision.outcome)
        reason = f"{decision.reason}; {missing}" if missing else decision.reason
        return Handled(task.ref, decision.action, reason)

    def _task_of(self, message: TaskMessage | ForeignTask) -> Task:
        """Adopted, if an outage kept every worker from doing it."""
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
