"""What a worker that holds a token does, a step at a time, and what the sweeper does meanwhile.

Reading and writing are two steps: anybody may come in between.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import holder_of, run_of
from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import claim_refusals, ready_transitions, transitions
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.domain.transition import Transition
from tests.model.scheduling.state import CLOCKS, IDLE, JOB, LIMIT, Draft, Process, State

Step = tuple[str, Callable[[Draft], Process]]


def number_of(task: Task) -> int:
    return int(task.ref.task_id)


def worker_steps(worker: Process, state: State, pool: int) -> Iterator[Step]:
    """Yield what a worker can do next; to die is a step of the world."""
    if worker.step == "idle":
        for token in state.tokens:
            if token[0] == pool:
                yield f"receives {token}", partial(_receive, token)
    elif worker.step == "looking":
        yield from _look(worker, state)
    else:
        yield from _at_work(worker)


def _at_work(worker: Process) -> Iterator[Step]:
    match worker.step:
        case "met":
            for now in CLOCKS:
                yield f"judges {_name(worker)} at {now}", partial(_judge, worker, now)
        case "running":
            yield "renews its lease", partial(_renew, worker)
            yield "settles", partial(_end, worker, None)
            yield "releases", partial(_end, worker, 1)
        case step:
            text, act = _SINGLE[step]
            yield text, partial(act, worker)


def _name(worker: Process) -> str:
    return worker.read.ref.task_id if worker.read else "nothing"


def _receive(token: tuple[int, int], draft: Draft) -> Process:
    draft.tokens.remove(token)
    return Process("looking", token)


def _look(worker: Process, state: State) -> Iterator[Step]:
    heads = {number for number, shown in enumerate(state.shown) if shown}
    left = sorted({*heads, worker.token[1]} - worker.tried)
    for number in left:
        met = replace(worker, step="met", read=state.tasks[number])
        yield f"reads {number}", lambda _, met=met: met  # type: ignore[misc]
    if not left and heads:
        yield "sends a fresh token", partial(_token_back, worker)
    if not left and not heads:
        yield "finds nothing", partial(_close, worker)


def _token_back(worker: Process, draft: Draft) -> Process:
    draft.tokens = sorted({*draft.tokens, worker.token})
    return IDLE


def _judge(worker: Process, now: int, draft: Draft) -> Process:
    task = worker.read
    assert task is not None
    number, tried = number_of(task), _tried(worker)
    match claim_refusals.decide_claim(task, now_ms=now):
        case claim_refusals.Claimable() if task.ready_in is None:
            _enter(task, now, draft)
            return replace(worker, step="looking", read=None)
        case claim_refusals.Claimable():
            return _claim(worker, task, now, draft)
        case claim_refusals.Exhausted() | claim_refusals.Flagged():
            outcome = Outcome(state=TaskState.FAILED)
            giving_up = transitions.give_up(task, outcome, now_ms=now)
            back = draft.back(task) if task.state is TaskState.PROCESSING else []
            if draft.write(number, giving_up, *back, now=now):
                return replace(tried, step="freed", read=None)
        case _ if task.ready_in is not None:
            draft.write(number, ready_transitions.leave_ready(task), now=now)
    return tried


def _tried(worker: Process) -> Process:
    assert worker.read is not None
    met = worker.tried | {number_of(worker.read)}
    return replace(worker, step="looking", read=None, tried=met)


def _enter(task: Task, now: int, draft: Draft) -> bool:
    entering = ready_transitions.enter_ready(task, now_ms=now)
    return isinstance(entering, Transition) and draft.write(number_of(task), entering, now=now)


def _claim(worker: Process, task: Task, now: int, draft: Draft) -> Process:
    number, owner = number_of(task), f"{task.fence}"
    limited = task if task.limits else None
    claim = transitions.claim(owner=owner, now_ms=now, lease_ms=1, limited=limited)
    if draft.write(number, claim, *draft.places(task, now), now=now):
        claimed = draft.tasks[number]
        return Process("running", worker.token, lease=Lease(claimed, owner))
    found = draft.tasks[number]
    full = isinstance(claim_refusals.decide_claim(found, now_ms=now), claim_refusals.Claimable)
    if full and not draft.may_claim(number, now):
        return replace(worker, step="full", read=found)
    return _tried(worker)


def _wait(worker: Process, draft: Draft) -> Process:
    task = worker.read
    assert task is not None
    if task.ready_in is not None:
        noted = limit_transitions.add_waiter(task, LIMIT.name, draft.limit, now_ms=1)
        moved = ready_transitions.move_ready(task, Partition.LIMITED)
        draft.write(number_of(task), moved, noted)
    return _tried(worker)


def _renew(worker: Process, draft: Draft) -> Process:
    lease = worker.lease
    assert lease is not None
    renewal = transitions.renew(lease, lease_until_ms=CLOCKS[1] + 1)
    kept = draft.write(number_of(lease.task), renewal)
    return worker if kept else _token_back(worker, draft)


def _end(worker: Process, not_before: int | None, draft: Draft) -> Process:
    lease = worker.lease
    assert lease is not None
    number = number_of(lease.task)
    outcome = Outcome(state=TaskState.COMPLETED)
    ending = transitions.settle(lease, outcome, now_ms=1)
    if not_before is not None:
        ending = transitions.release(
            lease, not_before_ms=not_before, now_ms=1, give_attempt_back=False
        )
    if not draft.write(number, ending, *draft.back(lease.task)):
        return _token_back(worker, draft)
    if not_before is not None:
        draft.send(number)
    freed = "freed" if lease.task.limits else "closing"
    return Process(freed, worker.token)


def _read_waiter(worker: Process, draft: Draft) -> Process:
    """Read the limit, then the oldest that waits; one that waits no more is forgotten."""
    free = draft.limit.free(LIMIT.name, now_ms=1)
    for waiter in sorted(draft.limit.waiters) if free else ():
        task = draft.tasks[int(run_of("tenant", waiter.partition("#")[2]).ref.task_id)]
        if partition_of(task) is Partition.LIMITED:
            return replace(worker, step="letting in", read=task, waiter=waiter)
        draft.forget(limit_transitions.remove_waiter(waiter))
    return replace(worker, step="closing", read=None)


def _let_in(worker: Process, draft: Draft) -> Process:
    task = worker.read
    assert task is not None
    back = ready_transitions.move_ready(task, Partition.READY)
    if draft.write(number_of(task), back, limit_transitions.remove_waiter(worker.waiter)):
        draft.send(number_of(task))
    return replace(worker, step="closing", read=None, waiter="")


def _close(worker: Process, draft: Draft) -> Process:
    """Begin again if the hint can be claimed; else the token is deleted."""
    if draft.may_claim(worker.token[1], CLOCKS[0]):
        return Process("looking", worker.token)
    return IDLE


_SINGLE: Final[dict[str, tuple[str, Callable[[Process, Draft], Process]]]] = {
    "full": ("lets it wait", _wait),
    "freed": ("reads who waits", _read_waiter),
    "letting in": ("lets one in", _let_in),
    "closing": ("looks at its hint again", _close),
}


def sweeper_steps(sweeper: Process, state: State) -> Iterator[Step]:
    if sweeper.step == "entering":
        yield "enters what it read", partial(_sweep_in, sweeper)
        return
    if sweeper.step == "removing":
        yield "takes a place away", partial(_remove, sweeper)
        return
    for task in state.tasks:
        if task.state is TaskState.PROCESSING and task.ready_in is None:
            read = Process("entering", read=task)
            yield f"reads {task.ref.task_id}", lambda _, read=read: read  # type: ignore[misc]
        stale = task.state is not TaskState.PROCESSING
        if stale and holder_of(task.this_run) in state.limit.holders:
            read = Process("removing", read=task)
            yield f"reads {task.ref.task_id}", lambda _, read=read: read  # type: ignore[misc]


def _sweep_in(sweeper: Process, draft: Draft) -> Process:
    assert sweeper.read is not None
    for now in CLOCKS[1:]:
        if _enter(sweeper.read, now, draft):
            draft.send(number_of(sweeper.read))
            break
    return IDLE


def _remove(sweeper: Process, draft: Draft) -> Process:
    task = sweeper.read
    assert task is not None
    idle = ready_transitions.stay_idle(task.run)
    removed = limit_transitions.remove_holder(task.this_run)
    draft.write(number_of(task), idle, removed)
    return IDLE


def task(number: int, *, limited: bool, attempts: int = 2) -> Task:
    return Task(
        ref=JOB.task(str(number)),
        state=TaskState.QUEUED,
        definition="",
        definition_version=1,
        max_attempts=attempts,
        fence=1,
        limits=(LIMIT.name,) if limited else (),
    )
