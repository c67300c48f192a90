"""Goes through the states of a configuration, the nearest first, until a promise is broken."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import Limit
from switchyard.domain.scheduling.ready import ready_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import ready_transitions, transitions
from switchyard.domain.tasks.claim_refusals import Claimable, decide_claim
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.domain.transition import Transition
from tests.model.scheduling.state import (
    IDLE,
    LATE,
    Draft,
    Mutation,
    Process,
    State,
    bounded,
    broken_in,
    in_ready_partition,
)
from tests.model.scheduling.steps import number_of, sweeper_steps, task, worker_steps

ROUNDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    name: str
    limited: tuple[bool, ...]
    """Whether each task needs the one place of the limit."""
    pools: tuple[int, ...]
    """The pool of each worker."""
    attempts: int = 1
    faults: bool = False
    """Whether tokens are lost and workers die."""
    lag: bool = False
    """Whether the index shows a change later."""
    sweeps: bool = False
    left_behind: bool = False
    """Whether a worker of an older version has left a place to the first task."""

    def initial(self) -> State:
        tasks = tuple(
            _keyed(task(number, limited=limited, attempts=self.attempts))
            for number, limited in enumerate(self.limited)
        )
        pools = sorted(set(self.pools))
        held = frozenset({"job-1#0@1"}) if self.left_behind else frozenset()
        return State(
            tasks=tasks,
            shown=tuple(not self.lag for _ in tasks),
            limit=Limit(holders=held),
            tokens=tuple((pool, number) for pool in pools for number in range(len(tasks))),
            workers=(IDLE,) * len(self.pools),
            faultless=not (self.faults or self.left_behind or self.lag),
        )


def _keyed(one: Task) -> Task:
    key: Any = ready_key(one, 1)
    return bounded(replace(one, **key))


class Explorer:
    def __init__(self, configuration: Configuration, mutate: Mutation = lambda one: one) -> None:
        self._configuration = configuration
        self._mutate = mutate
        self._recovered: set[tuple[object, ...]] = set()
        self.states = 0

    def explore(self, *, at_most: int) -> str | None:
        """Return the first promise that is broken, with the last step; `None` if none was."""
        first = self._configuration.initial()
        seen, frontier = {first}, [first]
        while frontier and len(seen) < at_most:
            following: list[State] = []
            for state in frontier:
                for text, after, problem in self._successors(state):
                    if problem:
                        return f"{problem}, when {text}"
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
                        broken = broken_in(after) or self._not_recovered(after)
                        if broken:
                            return f"{broken}, when {text}"
            frontier = following
        self.states = len(seen)
        return None

    def _successors(self, state: State) -> Iterator[tuple[str, State, str | None]]:
        for place, worker in enumerate(state.workers):
            for text, step in worker_steps(worker, state, self._configuration.pools[place]):
                draft, after = self._taken(state, step)
                others = state.workers[:place], state.workers[place + 1 :]
                now = self._after(state, draft, workers=(*others[0], after, *others[1]))
                yield f"worker {place} {text}", now, _first(draft)
            if self._configuration.faults and worker != IDLE:
                tokens = tuple(sorted({*state.tokens, worker.token}))
                others = state.workers[:place], state.workers[place + 1 :]
                gone = (*others[0], IDLE, *others[1])
                yield "a worker dies", replace(state, workers=gone, tokens=tokens), None
        if self._configuration.sweeps:
            for text, step in sweeper_steps(state.sweeper, state):
                draft, after = self._taken(state, step)
                yield f"the sweeper {text}", self._after(state, draft, sweeper=after), _first(draft)
        yield from self._world(state)

    def _world(self, state: State) -> Iterator[tuple[str, State, str | None]]:
        if self._configuration.faults:
            for token in state.tokens:
                left = tuple(one for one in state.tokens if one != token)
                yield f"{token} is lost", replace(state, tokens=left), None
        for number, one in enumerate(state.tasks):
            if state.shown[number] != in_ready_partition(one):
                shown = list(state.shown)
                shown[number] = in_ready_partition(one)
                yield "the index follows", replace(state, shown=tuple(shown)), None

    def _taken(self, state: State, step: Any) -> tuple[Draft, Process]:
        draft = self._draft(state)
        return draft, step(draft)

    def _draft(self, state: State) -> Draft:
        pools = len(set(self._configuration.pools))
        return Draft(list(state.tasks), state.limit, list(state.tokens), pools, self._mutate)

    def _after(self, state: State, draft: Draft, **more: Any) -> State:
        tasks = tuple(draft.tasks)
        shown = state.shown if self._configuration.lag else tuple(map(in_ready_partition, tasks))
        return replace(
            state,
            tasks=tasks,
            shown=shown,
            limit=draft.limit,
            tokens=tuple(draft.tokens),
            **more,
        )

    def _not_recovered(self, state: State) -> str | None:
        """Let every process die and every token be lost: sweeps and one worker end all tasks."""
        stored = (state.tasks, state.limit)
        if stored in self._recovered:
            return None
        draft = self._draft(replace(state, tokens=()))
        for _ in range(ROUNDS):
            if all(one.state.settled for one in draft.tasks) and not draft.limit.holders:
                self._recovered.add(stored)
                return _first(draft)
            _sweep(draft)
        left = ", ".join(f"{one.ref.task_id} is {one.state}" for one in draft.tasks)
        return f"never ends once everything under way is lost: {left}, {draft.limit}"


def _first(draft: Draft) -> str | None:
    return draft.problems[0] if draft.problems else None


def _sweep(draft: Draft) -> None:
    """Do what a sweep does, then let a worker run whatever was sent, on a late clock."""
    for one in list(draft.tasks):
        idle = ready_transitions.stay_idle(one.run)
        draft.write(number_of(one), idle, limit_transitions.remove_holder(one.this_run))
        entering = ready_transitions.enter_ready(draft.tasks[number_of(one)], now_ms=LATE)
        if isinstance(entering, Transition):
            draft.write(number_of(one), entering)
    for one in list(draft.tasks):
        _run(number_of(one), draft)


def _run(number: int, draft: Draft) -> None:
    found = draft.tasks[number]
    if found.state.settled:
        return
    if not isinstance(decide_claim(found, now_ms=LATE), Claimable):
        giving_up = transitions.give_up(found, Outcome(state=TaskState.FAILED), now_ms=LATE)
        draft.write(number, giving_up, *draft.back(found))
        return
    limited = found if found.limits else None
    claim = transitions.claim(owner="last", now_ms=LATE, lease_ms=1, limited=limited)
    if draft.write(number, claim, *draft.places(found, LATE)):
        _settle(number, draft)


def _settle(number: int, draft: Draft) -> None:
    claimed = draft.tasks[number]
    outcome = Outcome(state=TaskState.COMPLETED)
    settlement = transitions.settle(Lease(claimed, "last"), outcome, now_ms=LATE)
    draft.write(number, settlement, *draft.back(claimed))
