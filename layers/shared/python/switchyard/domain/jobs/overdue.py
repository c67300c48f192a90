"""Decides what to do about something overdue: one pure function each for tasks and jobs.

`due_at_ms` of a step is when to look again should the step be lost too. The sweeper writes it, on
condition that the old one still stands, before it acts: of two sweepers one acts.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.backoff import Backoff
from switchyard.domain.jobs.job import Job, next_step
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import is_free
from switchyard.domain.tasks.task import Task, TaskRun

MAX_DOUBLINGS: Final = 6  # five minutes become five hours, a minute becomes one hour


class Action(StrEnum):
    START = "start"
    """The task is READY: emit its event, send its message, mark it queued."""
    RESEND = "resend"
    """The task is QUEUED: its message may be lost."""
    WAKE = "wake"
    """The task is PROCESSING without a lease: a worker has to take it over."""
    DISPATCH = "dispatch"
    """The task has settled, and its edges are not all removed: the dispatcher has to follow it."""
    AUDIT = "audit"
    """An open job: the dispatcher shall follow settled tasks that another still waits for."""
    ADVANCE = "advance"
    """A job that is being written, cancelled or redriven: the dispatcher shall go on with it."""
    WAIT = "wait"
    """Nothing is wrong: look again later."""
    DECIDE = "decide"
    """The task is WAITING for nothing: the dispatcher has to decide it."""
    END_HOLD = "end hold"
    """The task is HELD, and its time has come: the dispatcher has to end it."""
    ABANDON = "abandon"
    """A job that was never opened: nothing of it can run, so nothing of it is due."""
    LEAVE = "leave"
    """The item is not due any more."""

    @property
    def nudges(self) -> bool:
        """Whether it is counted in `resends`, so that each one waits longer than the last."""
        return self in {
            Action.RESEND,
            Action.WAKE,
            Action.DISPATCH,
            Action.DECIDE,
            Action.END_HOLD,
        }


@dataclass(frozen=True, slots=True)
class Step:
    action: Action
    reason: str
    due_at_ms: int | None = None
    """The new due time; `None` leaves it as it is."""


def decide_task_step(task: Task | None, *, now_ms: int) -> Step:
    if task is None or task.due_at_ms is None:
        return Step(Action.LEAVE, "nothing is due")
    if task.due_at_ms > now_ms:
        return Step(Action.LEAVE, f"due at {task.due_at_ms}")
    if task.state.settled:
        again = now_ms + _doubled(due.AFTER_SETTLING, task.resends)
        return Step(Action.DISPATCH, f"{task.state.value.lower()}, not dispatched", again)
    return _STEPS[task.state](task, now_ms)


def decide_job_step(job: Job | None, *, now_ms: int) -> Step:
    if job is None or job.due_at_ms is None:
        return Step(Action.LEAVE, "nothing is due")
    if job.due_at_ms > now_ms:
        return Step(Action.LEAVE, f"due at {job.due_at_ms}")
    step = next_step(job)
    if step is not None:
        return Step(Action.ADVANCE, f"{step.value} is not over", now_ms + due.JOB_BEING_WRITTEN)
    match job.state:
        case JobState.WRITING:
            return Step(Action.ABANDON, "its submission did not finish")
        case JobState.OPEN:
            return Step(Action.AUDIT, "open for another hour", now_ms + due.JOB_AUDIT)
        case JobState.UNKNOWN:
            later = now_ms + due.JOB_BEING_WRITTEN
            return Step(Action.WAIT, "in a state of a newer version", later)
        case _:
            return Step(Action.LEAVE, f"{job.state.value.lower()}")


def forgotten_parents(tasks: Iterable[Task]) -> tuple[TaskRun, ...]:
    """Return settled tasks that a WAITING one still names, and that are not due themselves.

    Those that are due are found by their own due time, and their event is emitted again then.
    """
    known = list(tasks)
    named = {token for t in known if t.state is TaskState.WAITING for token in t.waiting_on}
    return tuple(
        task.this_run
        for task in known
        if task.state.settled and task.due_at_ms is None and task.token in named
    )


def _queued(task: Task, now_ms: int) -> Step:
    if task.not_before_ms > now_ms and not task.cancel_requested:
        later = task.not_before_ms + due.AFTER_QUEUED
        return Step(Action.WAIT, f"not before {task.not_before_ms}", later)
    again = now_ms + _doubled(due.AFTER_QUEUED, task.resends + 1)
    return Step(Action.RESEND, f"queued, sent again {task.resends} times", again)


def _processing(task: Task, now_ms: int) -> Step:
    if task.lease_until_ms >= now_ms:
        later = task.lease_until_ms + due.AFTER_LEASE
        return Step(Action.WAIT, f"leased until {task.lease_until_ms}", later)
    again = now_ms + _doubled(due.AFTER_QUEUED, task.resends)
    return Step(Action.WAKE, f"the lease was over at {task.lease_until_ms}", again)


def _held(task: Task, now_ms: int) -> Step:
    if task.held_until_ms > now_ms:
        return Step(Action.WAIT, f"held until {task.held_until_ms}", task.held_until_ms)
    again = now_ms + _doubled(due.AFTER_HOLD, task.resends)
    return Step(Action.END_HOLD, f"was held until {task.held_until_ms}", again)


def _doubled(pause_ms: int, times: int) -> int:
    return Backoff(first=pause_ms, longest=pause_ms << MAX_DOUBLINGS).at_most(times)


def _ready(_task: Task, now_ms: int) -> Step:
    return Step(Action.START, "ready, not queued", now_ms + due.AFTER_READY)


def _waiting(task: Task, now_ms: int) -> Step:
    if is_free(task):
        again = now_ms + _doubled(due.AFTER_READY, task.resends)
        return Step(Action.DECIDE, "waits for nothing, not decided", again)
    return Step(Action.WAIT, "the audit of its job watches it", now_ms + due.JOB_AUDIT)


def _unknown(_task: Task, now_ms: int) -> Step:
    return Step(Action.WAIT, "in a state of a newer version", now_ms + due.AFTER_QUEUED)


_STEPS: Final[Mapping[TaskState, Callable[[Task, int], Step]]] = {
    TaskState.WAITING: _waiting,
    TaskState.READY: _ready,
    TaskState.QUEUED: _queued,
    TaskState.PROCESSING: _processing,
    TaskState.HELD: _held,
    TaskState.UNKNOWN: _unknown,
}
"""The steps for a task that has not settled, by its state."""
