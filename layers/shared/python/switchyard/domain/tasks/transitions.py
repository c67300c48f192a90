"""Every state change of a task. `docs/protocol.md` says why each guard is needed.

An owner keeps the fence when it changes its task; everybody else raises it. So a state under the
fence of a lease was written by its owner, and an owner's name stands for one claim."""

from dataclasses import replace
from typing import Any, Final

from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.jobs.redrive import Reopening
from switchyard.domain.scheduling.ready import READY_KEY, ready_key
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.cancellation import Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import NO_OVERRIDES, Lease, LifeSigns, Outcome, Task
from switchyard.domain.transition import (
    Absent,
    AnyOf,
    Due,
    Guard,
    OneOf,
    OtherField,
    Present,
    Transition,
    TransitionRefused,
    at_least,
    at_most,
    below,
    equal,
    is_empty,
    same,
)

_NOBODY_STARTED_IT: Final = OneOf("state", (TaskState.READY, TaskState.QUEUED))
_NOBODY_RUNS_IT: Final = OneOf("state", (TaskState.READY, TaskState.QUEUED, TaskState.HELD))
_READY: Final = equal("state", TaskState.READY)
_PROCESSING: Final = equal("state", TaskState.PROCESSING)
_WAITING: Final = equal("state", TaskState.WAITING)
_UNSETTLED: Final = tuple(state for state in TaskState if state not in SETTLED)
OF_THE_LAST_RUN: Final = (
    *("cancel_requested", "outcome", "owner", "lease_until_ms", "not_before_ms", "last_error"),
    *("commitments", "started_at_ms", "settled_at_ms", "held_until_ms", "decision", "resends"),
    *READY_KEY,
)


def claim(*, owner: str, now_ms: int, lease_ms: int, limited: Task | None = None) -> Transition:
    """Take the lease. The task is not read before: `decide_claim` says why it was refused.

    A `limited` one, as read, takes a place of each of its limits in the same transaction.
    """
    lease_until_ms = now_ms + lease_ms
    may_run_now = AnyOf(((Absent("not_before_ms"),), (at_most("not_before_ms", now_ms),)))
    return Transition(
        name="claim",
        guard=(
            AnyOf(((_NOBODY_STARTED_IT, may_run_now), _lease_is_over(now_ms))),
            below("attempt", OtherField("max_attempts")),
            Absent("cancel_requested"),
            Absent("kind"),
            *_limits(limited),
        ),
        sets={
            "state": TaskState.PROCESSING,
            "owner": owner,
            "lease_until_ms": lease_until_ms,
            "started_at_ms": now_ms,
        },
        removes=("resends", "signs", *READY_KEY),
        adds={"fence": 1, "attempt": 1},
        due=lease_until_ms + due.AFTER_LEASE,
        already=(_PROCESSING, at_least("lease_until_ms", now_ms), equal("owner", owner)),
    )


def renew(lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Transition:
    """Keep the lease. A renewal that arrives late shortens nothing."""
    return Transition(
        name="renew",
        guard=(*_held_by(lease), at_most("lease_until_ms", lease_until_ms)),
        sets={"lease_until_ms": lease_until_ms} | ({"signs": signs} if signs else {}),
        already=(*_held_by(lease), at_least("lease_until_ms", lease_until_ms)),
    )


def settle(
    lease: Lease, outcome: Outcome, *, now_ms: int, checked: CheckedCommitments | None = None
) -> Transition:
    """Store how the attempt ended, by the owner of its lease, with what was `checked`."""
    return Transition(
        name="settle",
        guard=_held_by(lease),
        sets=_ended(outcome, now_ms) | _noted("commitments", checked),
        removes=READY_KEY,
        due=now_ms + due.AFTER_SETTLING,
        already=(equal("state", outcome.state), *_of(lease)),
    )


def release(
    lease: Lease,
    *,
    not_before_ms: int,
    now_ms: int,
    give_attempt_back: bool,
    error: str | None = None,
    checked: CheckedCommitments | None = None,
    queue: str | None = None,
) -> Transition:
    """Hand the task back, by the owner of its lease: to be tried again, later or elsewhere."""
    from_ms = max(now_ms, not_before_ms)
    return Transition(
        name="release",
        guard=_held_by(lease),
        sets={"state": TaskState.QUEUED, "not_before_ms": not_before_ms}
        | ready_key(replace(lease.task, queue=queue or lease.task.queue), from_ms)
        | _noted("last_error", error)
        | _noted("queue", queue)
        | _noted("commitments", checked),
        removes=("owner", "lease_until_ms", "resends"),
        adds={"attempt": -1} if give_attempt_back else {},
        due=from_ms + due.AFTER_QUEUED,
        already=(equal("state", TaskState.QUEUED), equal("fence", lease.fence)),
    )


def give_up(task: Task, outcome: Outcome, *, now_ms: int) -> Transition:
    """Settle a task that nobody holds: its attempts are used up, or it is cancelled.

    An owner that hands it back keeps the fence, so state and attempt have to be as read, too. Two
    who give up the same task emit the same event: either may count it as its own.
    """
    return Transition(
        name="give_up",
        guard=(
            equal("fence", task.fence),
            equal("state", task.state),
            equal("attempt", task.attempt),
            AnyOf(((_NOBODY_RUNS_IT,), _lease_is_over(now_ms))),
        ),
        sets=_ended(outcome, now_ms),
        removes=("resends", *READY_KEY),
        adds={"fence": 1},
        due=now_ms + due.AFTER_SETTLING,
        already=(
            equal("state", outcome.state),
            equal("fence", task.fence + 1),
            same("owner", task.owner),
        ),
    )


def cancel(task: Task, *, now_ms: int) -> Transition | TransitionRefused[Task]:
    """Settle or flag the task, as `decide_cancel` says; refused where nothing is to be done."""
    match decide_cancel(task):
        case Settle(outcome):
            return give_up(task, outcome, now_ms=now_ms)
        case Flag():
            return flag(task)
        case Leave(reason):
            return TransitionRefused(reason, task)


def flag(task: Task) -> Transition:
    """Ask for the cancellation of a task that waits or runs: its next owner ends it."""
    as_read = (equal("state", task.state), equal("fence", task.fence))
    already = (Present("cancel_requested"), *as_read)
    return Transition(name="flag", guard=as_read, sets={"cancel_requested": True}, already=already)


def decide(task: Task, verdict: Readiness, *, now_ms: int) -> Transition:
    """Let a task go on that waits for nothing any more: to run, or to end without having run."""
    flagged = Present if task.cancel_requested else Absent
    ready = verdict.state is TaskState.READY
    return Transition(
        name="decide",
        guard=(_WAITING, Absent("waiting_on"), equal("run", task.run), flagged("cancel_requested")),
        sets={"state": TaskState.READY, "ready_at_ms": now_ms}
        if ready
        else _ended(verdict.outcome, now_ms),
        adds={"fence": 1},
        due=now_ms + (due.AFTER_READY if ready else due.AFTER_SETTLING),
    )


def mark_queued(task: Task, *, now_ms: int) -> Transition:
    """Note that the task's message was sent, unless a worker was faster.

    Only now it is in the ready index: a worker that finds it there must find its event emitted.
    """
    return Transition(
        name="mark_queued",
        guard=(_READY, equal("run", task.run)),
        sets={"state": TaskState.QUEUED} | ready_key(task, task.ready_at_ms or now_ms),
        adds={"fence": 1},
        due=now_ms + due.AFTER_QUEUED,
    )


def clear_due(task: Task) -> Transition:
    """Forget the due time of a task of which everything was done that follows from its end."""
    return Transition(
        name="clear_due",
        guard=(equal("state", task.state), equal("fence", task.fence), equal("run", task.run)),
        due=Due.REMOVED,
    )


def postpone(task: Task, due_at_ms: int, *, count: bool) -> Transition:
    """Move the due time before something is done about the task: of two sweepers one acts."""
    return Transition(
        name="postpone",
        guard=(equal("due_at_ms", task.due_at_ms),),
        adds={"resends": 1} if count else {},
        due=due_at_ms,
    )


def settle_start(*, now_ms: int) -> Transition:
    """Settle `__start__`, which everything in a new job waits for, with the job's opening."""
    return Transition(
        name="settle_start",
        guard=(_WAITING,),
        sets={"state": TaskState.COMPLETED, "settled_at_ms": now_ms},
        adds={"fence": 1},
        due=now_ms + due.AFTER_SETTLING,
    )


def reopen(reopening: Reopening, *, now_ms: int) -> Transition:
    """Begin the task's next run: nothing of the last one is left but its signs."""
    ready = not reopening.waiting_on
    begun: dict[str, Any] = {
        "state": TaskState.READY if ready else TaskState.WAITING,
        "ready_at_ms": now_ms if ready else None,
        "waiting_on": reopening.waiting_on,
        "not_completed": reopening.not_completed,
        "overrides": None if reopening.overrides == NO_OVERRIDES else reopening.overrides,
        "attempt": 0,
        **reopening.renewed,
    }
    empty = tuple(name for name, value in begun.items() if is_empty(value))
    return Transition(
        name="reopen",
        guard=(
            equal("state", reopening.state),
            equal("run", reopening.run),
            equal("fence", reopening.fence),
        ),
        sets={name: value for name, value in begun.items() if name not in empty},
        removes=(
            *(name for name in OF_THE_LAST_RUN if name not in begun),
            *reopening.unmade,
            *empty,
        ),
        adds={"run": 1, "fence": 1},
        due=now_ms + due.AFTER_READY if ready else Due.REMOVED,
        already=(equal("run", reopening.run + 1),),
    )


def _limits(task: Task | None) -> Guard:
    """A transaction does not show the task as it leaves it: it has to be as read."""
    if task is None:
        return (Absent("limits"),)
    as_read = (equal("state", task.state), equal("fence", task.fence))
    return (equal("limits", task.limits), *as_read)


def _ended(outcome: Outcome, now_ms: int) -> dict[str, Any]:
    return {"state": outcome.state, "outcome": outcome, "settled_at_ms": now_ms}


def _noted(name: str, value: Any) -> dict[str, Any]:
    return {name: value} if value else {}


def _held_by(lease: Lease) -> Guard:
    return (_PROCESSING, *_of(lease))


def _of(lease: Lease) -> Guard:
    return (equal("fence", lease.fence), equal("owner", lease.owner))


def _lease_is_over(now_ms: int) -> Guard:
    return (_PROCESSING, below("lease_until_ms", now_ms))
