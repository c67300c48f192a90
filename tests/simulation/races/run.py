"""One kind of race, one seed, and what was wrong at its end."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from tests.simulation.races.adding import Newcomers
from tests.simulation.races.cancelling import Cancellation
from tests.simulation.races.harness import RaceHarness
from tests.simulation.races.redriving import LateWakeUps
from tests.simulation.races.settling import TwoParents
from tests.simulation.run import silence


class Race(Protocol):
    harness: RaceHarness

    def run(self) -> list[str]:
        """What did not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    kind: str
    seed: int
    problems: tuple[str, ...]
    crashes: int
    timeline: tuple[str, ...]


KINDS: Final[dict[str, Callable[[int], Race]]] = {
    "settling": TwoParents,
    "adding": Newcomers,
    "redriving": LateWakeUps,
    "cancelling": Cancellation,
}


def race(kind: str, seed: int) -> Result:
    one = KINDS[kind](seed)
    with silence(), contextlib.closing(one.harness):
        problems = tuple(one.run())
        lines = one.harness.world.trace.lines
    return Result(
        kind=kind,
        seed=seed,
        problems=problems,
        crashes=sum(line.what.startswith("KILLED") for line in lines),
        timeline=tuple(map(str, lines)),
    )
