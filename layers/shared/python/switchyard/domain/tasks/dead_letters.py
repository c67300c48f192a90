"""Decides what a dead letter means: by the state of its task, not by the message.

Letters arrive for tasks that run, that are done, or that merely met an outage three times. Only a
task that used up its attempts, or that is to be cancelled, is settled.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from switchyard.domain.tasks.claim_refusals import (
    Busy,
    Claimable,
    Done,
    Exhausted,
    Flagged,
    NotYet,
    cancelled,
    decide_claim,
    exhausted,
)
from switchyard.domain.tasks.task import Outcome, Task

SOURCE: Final = "dlq"


@dataclass(frozen=True, slots=True)
class Drop:
    """A decision to drop the message: a worker runs the task, or its due time brings it back."""

    action: ClassVar = "drop"
    reason: str


@dataclass(frozen=True, slots=True)
class EmitAgain:
    action: ClassVar = "tell again"
    reason: str


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Send a new message, whose receives are counted from zero."""

    action: ClassVar = "send again"
    reason: str
    delay_seconds: int = 0


@dataclass(frozen=True, slots=True)
class SettleTask:
    action: ClassVar = "give up"
    reason: str
    outcome: Outcome


def decide_dead_letter(task: Task, *, now_ms: int) -> Drop | EmitAgain | SendAgain | SettleTask:
    decision = decide_claim(task, now_ms=now_ms)
    reason = decision.reason
    match decision:
        case Busy():
            return Drop(reason)
        case Done():
            return EmitAgain(reason)
        case Claimable():
            return SendAgain(reason)
        case NotYet():
            delay = decision.delay_seconds
            return Drop(reason) if delay is None else SendAgain(reason, delay)
        case Exhausted():
            return SettleTask(reason, exhausted(task, decision, source=SOURCE))
        case Flagged():
            return SettleTask(reason, cancelled(decision))
