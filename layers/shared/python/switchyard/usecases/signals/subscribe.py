"""Stores which event a signal waits for, before it is held."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.signals.subscriptions import (
    CATEGORY,
    EventFilter,
    Subscription,
    filled_event,
    tasks_in_pattern,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.holds import Hold
from switchyard.domain.tasks.readiness import DISPATCHER
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Clock, Payloads, TaskLeases
from switchyard.ports.signals import SignalSubscriptions
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter

MAX_BYTES: Final = 1_000_000
"""The most bytes that the outputs which a pattern names may have together."""


@dataclass(frozen=True, kw_only=True)
class SignalSubscriber:
    subscriptions: SignalSubscriptions
    payloads: Payloads
    leases: TaskLeases
    emitter: Emitter
    clock: Clock

    def subscribe(self, task: Task, hold: Hold) -> bool:
        """Store what a ready signal waits for; `False` if that cannot be said, and the task failed.

        May run again: the same run of a task has the same subscription.
        """
        if hold.event is None:
            return True
        try:
            event = self._filled(task, hold)
        except Rejected as problem:
            self._fail(task, f"event: {problem}")
            return False
        since_ms = task.ready_at_ms or self.clock.now_ms()
        self.subscriptions.put(
            Subscription(
                ref=task.ref,
                run=task.run,
                filter=event,
                since_ms=since_ms,
                until_ms=hold.ends_at_ms(since_ms),
            )
        )
        return True

    def _filled(self, task: Task, hold: Hold) -> EventFilter:
        event, given = hold.event or {}, self.payloads.read(task.ref).input
        wanted = tasks_in_pattern(event, given)
        outputs = self.payloads.outputs(task.ref.job, wanted, max_bytes=MAX_BYTES) if wanted else {}
        return filled_event(event, given, outputs)

    def _fail(self, task: Task, reason: str) -> None:
        """End the task as it was read; it stays due, so that its event is emitted in any case."""
        outcome = Outcome(
            state=TaskState.FAILED, error=reason, error_category=CATEGORY, source=DISPATCHER
        )
        failed = self.leases.give_up(task, outcome, now_ms=self.clock.now_ms())
        if failed is not None:
            self.emitter.emit(task_events.settled(failed, output=None))
