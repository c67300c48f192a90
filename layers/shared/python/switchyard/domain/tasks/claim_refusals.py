"""Decides why a task cannot be claimed, and how one ends that may not be claimed any more.

The guard of the claim itself is in `transitions.claim`; this explains what the guard found.
"""

import math
from dataclasses import dataclass
from typing import Final

from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.task import Outcome, Task

LONGEST_DELAY_SECONDS: Final = 900  # SQS's limit
UNKNOWN_WAIT_MS: Final = 60_000
"""The time between two looks at a task in a state that only a newer worker knows."""


@dataclass(frozen=True, slots=True)
class Claimable:
    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """A live lease: the message is redundant, the sweeper is the net."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The task has settled: emit the stored outcome's event again."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotYet:
    """The claim is tried again after `wait_ms`; `None` when only a parent's settling can help."""

    reason: str
    wait_ms: int | None

    @property
    def delay_seconds(self) -> int | None:
        """Return the delay of a new message; `None` when only the due time can wait so long."""
        if self.wait_ms is None or self.wait_ms > LONGEST_DELAY_SECONDS * 1000:
            return None
        return math.ceil(self.wait_ms / 1000)


@dataclass(frozen=True, slots=True)
class LimitFull:
    """A limit is full: the task waits for a place, without a message."""

    reason: str
    name: str


@dataclass(frozen=True, slots=True)
class Exhausted:
    reason: str


@dataclass(frozen=True, slots=True)
class Flagged:
    """Cancellation was asked for and no worker runs the task: settle it as cancelled."""

    reason: str


ClaimDecision = Claimable | Busy | Done | NotYet | Exhausted | Flagged
ClaimRefusal = Busy | Done | NotYet | Exhausted | Flagged | LimitFull


def why_needless(task: Task, *, run: int, job_cancelled: bool) -> str | None:
    """Return why a wake-up for this run may be deleted without a claim; `None` if it may not.

    A settled task with a due time has not been followed yet: its worker may have died before it
    emitted the event, and the wake-up that comes back is what emits it again soon. In a job that
    is being cancelled, what is queued and not flagged is still to be visited, and settled then; the
    events of what is cancelled are still to be emitted, thousands at once.
    """
    if task.state.settled and task.run >= run and task.due_at_ms is None:
        return f"{task.state.value.lower()} already"
    if task.state is TaskState.CANCELLED and task.run >= run and job_cancelled:
        return "cancelled with its job"
    queued = task.state in {TaskState.READY, TaskState.QUEUED} and not task.cancel_requested
    return "its job is being cancelled" if job_cancelled and queued else None


_ARTICLES: Final = {TaskKind.APPROVAL: "an"}


def _why_not_ready(task: Task) -> NotYet | None:
    match task.state:
        case TaskState.UNKNOWN:
            return NotYet("in a state of a newer version", wait_ms=UNKNOWN_WAIT_MS)
        case TaskState.WAITING:
            return NotYet(f"waiting on {len(task.waiting_on)} parents", wait_ms=None)
    return None


def _why_busy(task: Task, now_ms: int) -> str | None:
    if task.kind is not None:
        return f"no worker runs it: it is {_ARTICLES.get(task.kind, 'a')} {task.kind}"
    live = task.state is TaskState.PROCESSING and task.lease_until_ms >= now_ms
    return f"busy until {task.lease_until_ms}" if live else None


def decide_claim(task: Task, *, now_ms: int) -> ClaimDecision:
    if task.state.settled:
        return Done(f"done: {task.state.value.lower()} at {task.settled_at_ms}")
    not_ready = _why_not_ready(task)
    if not_ready:
        return not_ready
    busy = _why_busy(task, now_ms)
    if busy:
        return Busy(busy)
    if task.cancel_requested:
        return Flagged("cancellation was requested")
    if task.attempt >= task.max_attempts:
        return Exhausted(f"exhausted after {task.attempt} attempts")
    if task.state is not TaskState.PROCESSING and task.not_before_ms > now_ms:
        return NotYet(f"not before {task.not_before_ms}", wait_ms=task.not_before_ms - now_ms)
    return Claimable(f"{task.state.value.lower()}, attempt {task.attempt + 1}")


def limit_full(name: str) -> LimitFull:
    """Refuse a task that could be claimed but for a limit."""
    return LimitFull(f"as many run as the limit {name} allows", name)


EXHAUSTED: Final = "exhausted"


def exhausted(task: Task, decision: Exhausted, *, source: str = "worker") -> Outcome:
    error = f"{decision.reason}; the last worker stopped renewing its lease"
    if task.last_error:
        error += f"; before that: {task.last_error}"
    return Outcome(state=TaskState.FAILED, error=error, error_category=EXHAUSTED, source=source)


def cancelled(decision: Flagged) -> Outcome:
    return Outcome(state=TaskState.CANCELLED, error=decision.reason)
