"""Lists the tasks that a worker tries to claim, the best first, and says why each is next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from switchyard.domain.scheduling.aging import DEFAULT_AGING, Aging, Waiting
from switchyard.domain.scheduling.policies import Between

MOST_REFUSALS: Final = 10
"""After so many refused claims a worker gives its token back."""
SHORTEST_PAUSE_SECONDS: Final = 1
LONGEST_PAUSE_SECONDS: Final = 5
"""How long such a token is delayed, drawn between these, so that workers do not meet again."""

MORE_HEADS: Final = 10
"""How many more tasks than slots a worker looks at. The one that its token names is tried first if
it is among them: then nothing has to be read to find out what became of it."""

W = TypeVar("W", bound=Waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a task was next: what its Task Started says."""

    group: str
    clock: float
    """The clock of its tenant in the group, before the charge."""
    rank: int
    """The priority class that it counted as, with what waiting added."""
    policy: str
    waited_ms: int
    """Since it could have started."""


@dataclass(frozen=True, slots=True)
class Candidate(Generic[W]):
    task: W
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads(Generic[W]):
    """The oldest tasks of each class that one tenant has in a group."""

    group: str
    clock: float
    tasks: Sequence[W]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """How a worker chooses among the tasks of a tenant."""

    policy: str
    aging: Aging = DEFAULT_AGING
    slots: int = 1
    """The slots of all workers of its pool."""


def candidates(
    heads: Heads[W], how: Choosing, *, now_ms: int, between: Between, named: W | None = None
) -> list[Candidate[W]]:
    """Return a tenant's tasks in the order of the tries: by rank, and the oldest first.

    Those of one rank are shuffled within as many as the pool has slots: workers that look at the
    same moment do not all claim the same task. Of these the one that the worker's token names is
    first: every worker has another token.
    """
    ranked: dict[int, list[W]] = {}
    for task in how.aging.in_order(heads.tasks, now_ms=now_ms):
        ranked.setdefault(how.aging.rank(task, now_ms=now_ms), []).append(task)
    return [
        Candidate(task, _why(heads, how, task, rank=rank, now_ms=now_ms))
        for rank, equals in sorted(ranked.items())
        for task in _tries(equals, how.slots, between, named)
    ]


def _tries(equals: list[W], slots: int, between: Between, named: W | None) -> list[W]:
    tries = shuffled_within(equals, slots, between)
    if named is not None and named in tries[: slots + MORE_HEADS]:
        tries.remove(named)
        tries.insert(0, named)
    return tries


def _why(heads: Heads[W], how: Choosing, task: W, *, rank: int, now_ms: int) -> Why:
    return Why(
        group=heads.group,
        clock=heads.clock,
        rank=rank,
        policy=how.policy,
        waited_ms=max(0, now_ms - task.ready_from_ms),
    )


T = TypeVar("T")


def shuffled_within(things: Iterable[T], window: int, between: Between) -> list[T]:
    """Return the things with the first `window` of them in random order."""
    shuffled = list(things)
    last = min(window, len(shuffled)) - 1
    for place in range(last):
        other = min(last, place + int(between(0, last - place + 1)))
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return shuffled
