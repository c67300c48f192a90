"""The steps of a worker: one slot, which receives a message, claims, runs and ends an attempt.

It mirrors `deliveries.py` and `settlement.py` of the worker. A dead letter is judged by the same
decisions (`usecases/letters/process_dead_letter.py`) and adds no step. A write and the message or
event that follows it are one step: to die between the two is to lose what was sent, and what is
sent may always be lost.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from switchyard.domain.states import TaskState
from switchyard.domain.tasks import claim_refusals
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.cancellation import REASON
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.retries import Retry, decide_retry
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.domain.transition import Transition, TransitionRefused
from tests.model.database import Draft


@dataclass(frozen=True, slots=True)
class Running:
    """An attempt under way; the worker may have lost its lease without knowing."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class GivingUp:
    """A task that was read to be exhausted or flagged, and how it is to end."""

    task: Task
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that ended; its last requests may arrive again, late."""

    lease: Lease
    request: str
    now: int


Worker = Running | GivingUp | Ended | None
Step = tuple[str, Callable[[Draft], Worker]]


@dataclass(frozen=True, slots=True)
class Habits:
    """What workers of a configuration do."""

    outcomes: tuple[TaskState, ...] = (TaskState.COMPLETED, TaskState.FAILED)
    last_fence_handed_back: int = 0
    """An attempt under a higher fence is not handed back: else it could be for ever."""
    late_requests: bool = False


def steps(worker: Worker, draft: Draft, habits: Habits, messages: list[str]) -> Iterator[Step]:
    """Yield what the worker can do next; `messages` name the tasks that it can receive."""
    if worker is None:
        for name, now in itertools.product(messages, draft.clocks.values):
            yield f"receives {name} and claims it at {now}", partial(_claim, name, now)
        return
    yield "dies", _idle
    match worker:
        case Running(lease):
            yield from _running(lease, draft, habits)
        case GivingUp(task, outcome):
            for now in draft.clocks.values:
                text = f"gives {task.ref.task_id} up as {outcome.state} at {now}"
                yield text, partial(_give_up, worker, now)
        case Ended():
            yield from _late(worker, draft)


def _late(ended: Ended, draft: Draft) -> Iterator[Step]:
    name = ended.lease.ref.task_id
    yield f"has its request about {name} arrive again", partial(_send_again, ended)
    for until in draft.clocks.values:
        yield f"has a renewal of {name} arrive late", partial(_renew, ended.lease, until, ended)


def _running(lease: Lease, draft: Draft, habits: Habits) -> Iterator[Step]:
    name = lease.ref.task_id
    for until in draft.clocks.values:
        yield f"renews {name} until {until + 1}", partial(_renew, lease, until, Running(lease))
    cancelled = draft.job.being_cancelled or draft.task(name).cancel_requested
    for state in (*habits.outcomes, *([TaskState.CANCELLED] if cancelled else [])):
        request = partial(_end, Ended(lease, state.value, draft.clocks.late), habits)
        yield f"settles {name} as {state}", request
    task = lease.task
    retry = decide_retry(
        FailureCategory.NETWORK, attempt=task.attempt, max_attempts=task.max_attempts
    )
    if isinstance(retry, Retry):
        for now in draft.clocks.values[:-1]:
            request = partial(_end, Ended(lease, "retry", now), habits)
            yield f"releases {name} to be tried again after {now + 1}", request
    if lease.fence <= habits.last_fence_handed_back:
        request = partial(_end, Ended(lease, "hand back", draft.clocks.values[0]), habits)
        yield f"hands {name} back", request


def _idle(draft: Draft) -> Worker:
    return None


def _claim(name: str, now: int, draft: Draft) -> Worker:
    """Claim under a name that nobody has used: no two claims are of the same fence and attempt."""
    before = draft.task(name)
    owner = f"{before.fence}/{before.attempt}"
    claim = of_tasks.claim(owner=owner, now_ms=now, lease_ms=1)
    answer = draft.write(name, claim, now=now, owner=owner)
    if isinstance(answer, Task):
        return Running(Lease(answer, owner))
    match claim_refusals.decide_claim(before, now_ms=now):
        case claim_refusals.Done():
            draft.wake_dispatcher(before, by_event=True)
        case claim_refusals.Exhausted() as decision:
            return GivingUp(before, _said(claim_refusals.exhausted(before, decision)))
        case claim_refusals.Flagged() as decision:
            return GivingUp(before, _said(claim_refusals.cancelled(decision)))
    return None


def _renew(lease: Lease, now: int, after: Worker, draft: Draft) -> Worker:
    renewal = of_tasks.renew(lease, lease_until_ms=draft.clocks.bounded(now + 1))
    answer = draft.write(lease.ref.task_id, renewal, owner=lease.owner)
    return None if isinstance(answer, TransitionRefused) else after


def _end(ended: Ended, habits: Habits, draft: Draft) -> Worker:
    name = ended.lease.ref.task_id
    answer = draft.write(name, _request(ended), now=ended.now, owner=ended.lease.owner)
    if isinstance(answer, TransitionRefused):
        return None
    if answer.state.settled:
        if (answer.owner, answer.fence) != (ended.lease.owner, ended.lease.fence):
            draft.problems.append(f"I2: {name} was ended by another, and a worker is told it did")
        draft.wake_dispatcher(answer, by_event=True)
    elif answer.cancel_requested:
        return GivingUp(answer, _said(claim_refusals.cancelled(claim_refusals.Flagged(REASON))))
    else:
        draft.wake_worker(answer)
    return ended if habits.late_requests else None


def _request(ended: Ended) -> Transition:
    match ended.request:
        case "retry" | "hand back" as word:
            back = word == "hand back"
            not_before = ended.now if back else ended.now + 1
            return of_tasks.release(
                ended.lease, not_before_ms=not_before, now_ms=ended.now, give_attempt_back=back
            )
        case state:
            return of_tasks.settle(ended.lease, Outcome(state=TaskState(state)), now_ms=ended.now)


def _send_again(ended: Ended, draft: Draft) -> Worker:
    draft.write(ended.lease.ref.task_id, _request(ended), now=ended.now, owner=ended.lease.owner)
    return None


def _give_up(giving: GivingUp, now: int, draft: Draft) -> Worker:
    giving_up_now = of_tasks.give_up(giving.task, giving.outcome, now_ms=now)
    answer = draft.write(giving.task.ref.task_id, giving_up_now, now=now)
    if isinstance(answer, Task):
        draft.wake_dispatcher(answer, by_event=True)
    return None


def _said(outcome: Outcome) -> Outcome:
    """Leave the text out: it names times and numbers that tell nothing to the model."""
    return Outcome(state=outcome.state, error_category=outcome.error_category)
