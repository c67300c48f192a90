"""A state of the model, and the draft through which one step changes it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.ids import JobRef
from switchyard.domain.scheduling.limits import Limit, LimitRef, holder_of
from switchyard.domain.scheduling.places import places_given_back, places_taken
from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import Claimable, decide_claim
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.domain.transition import Transition, applied, holds

JOB: Final = JobRef("tenant", "job-1")
LIMIT: Final = LimitRef("tenant", "q:default:1")
CLOCKS: Final = (1, 3, 5)
"""What a clock may show: a lease that is taken at 1 is over at 3, and one that is renewed at 5."""
LATE: Final = CLOCKS[-1]

Mutation = Callable[[Transition], Transition]
Token = tuple[int, int]
"""A message: its pool, and the number of the task that it hints at."""


@dataclass(frozen=True, slots=True)
class Process:
    """A worker, or the sweeper, at one of its steps."""

    step: str = "idle"
    token: Token = (0, 0)
    tried: frozenset[int] = frozenset()
    """The tasks that it has met under this token."""
    read: Task | None = None
    """A task as it has read it."""
    lease: Lease | None = None
    waiter: str = ""


IDLE: Final = Process()


@dataclass(frozen=True, slots=True)
class State:
    tasks: tuple[Task, ...]
    shown: tuple[bool, ...]
    """Whether the index proposes each task; it may lag."""
    limit: Limit
    tokens: tuple[Token, ...]
    workers: tuple[Process, ...]
    sweeper: Process = IDLE
    faultless: bool = True
    """Whether no token was lost, and no worker has died."""


@dataclass(slots=True)
class Draft:
    tasks: list[Task]
    limit: Limit
    tokens: list[Token]
    pools: int
    mutate: Mutation
    problems: list[str] = field(default_factory=list)

    def write(self, number: int, change: Transition, *places: Transition, now: int = LATE) -> bool:
        """Write to a task and to the limit, together or not at all."""
        change, *others = (self.mutate(one) for one in (change, *places))
        old = self.tasks[number]
        if not holds(change.guard, old) or not all(holds(o.guard, self.limit) for o in others):
            return False
        self._check(change, old, now)
        self.tasks[number] = bounded(applied(old, change))
        for one in others:
            self.limit = replace(applied(self.limit, one), ttl=0)
        return True

    def forget(self, change: Transition) -> None:
        self.limit = applied(self.limit, self.mutate(change))

    def send(self, number: int) -> None:
        """Send a token to each pool; a second one with the same hint changes nothing."""
        more = {(pool, number) for pool in range(self.pools)}
        self.tokens = sorted({*self.tokens, *more})

    def places(self, task: Task, now: int) -> list[Transition]:
        return [one for _, one in places_taken(task, {LIMIT: self.limit}, now_ms=now)]

    def back(self, task: Task) -> list[Transition]:
        return [one for _, one in places_given_back(task)]

    def may_claim(self, number: int, now: int) -> bool:
        """Tell whether the task could be claimed now, and has or finds a place."""
        task = self.tasks[number]
        claimable = isinstance(decide_claim(task, now_ms=now), Claimable)
        return claimable and all(holds(one.guard, self.limit) for one in self.places(task, now))

    def _check(self, change: Transition, old: Task, now: int) -> None:
        live = old.state is TaskState.PROCESSING and old.lease_until_ms >= now
        if change.name == "enter_ready" and live:
            self.problems.append("a task whose lease is live was proposed")
        waits = change.name == "move_ready" and "limited" in change.sets["ready_in"]
        if waits and self.limit.free(LIMIT.name, now_ms=now):
            self.problems.append("a task waits for a place, and one is free")


def bounded(task: Task) -> Task:
    """Map times that nothing compares with a clock to one value."""
    return replace(
        task,
        ready_order=task.ready_order and "2#1",
        lease_until_ms=min(task.lease_until_ms, LATE - 1),  # every lease is over at some time
        due_at_ms=1,
        ready_at_ms=1,
        started_at_ms=None,
        settled_at_ms=None,
        resends=0,
        outcome=task.outcome and Outcome(state=task.outcome.state),
    )


def broken_in(state: State) -> str | None:
    """Name what must hold in every state, and does not."""
    if len(state.limit.holders) > 1:
        return "more have a place than the limit allows"
    for task in state.tasks:
        name, has_key = task.ref.task_id, task.ready_in is not None
        if has_key != (task.ready_order is not None):
            return f"{name} has half a key"
        if task.state.settled and has_key:
            return f"{name} has settled, and is proposed"
        runs = task.state is TaskState.PROCESSING and bool(task.limits)
        if runs and holder_of(task.this_run) not in state.limit.holders:
            return f"{name} runs without a place"
    return _idle_wrongly(state) if state.faultless else None


def _idle_wrongly(state: State) -> str | None:
    """No slot idles while a task that it may run waits, if no token was lost."""
    if state.tokens or any(one != IDLE for one in (*state.workers, state.sweeper)):
        return None
    if not any(one.step == "idle" for one in state.workers):
        return None
    draft = Draft(list(state.tasks), state.limit, [], 1, lambda one: one)
    for number, task in enumerate(state.tasks):
        if draft.may_claim(number, LATE):
            where = partition_of(task)
            return f"nobody is woken for {task.ref.task_id}, in {where!r}, which may run"
    return None


def in_ready_partition(task: Task) -> bool:
    return partition_of(task) is Partition.READY
