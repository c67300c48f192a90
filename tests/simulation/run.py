"""One seed, one yard, one report."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.simulation.changes import Change
from tests.simulation.checker import Violation, violations
from tests.simulation.yard import STORM_SECONDS, Yard


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    seed: int
    weather: str
    trace_hash: str
    violations: tuple[Violation, ...]
    tasks: int
    claims: int
    kills: int
    requests: int
    simulated_seconds: float
    timeline: tuple[str, ...]

    def without_timeline(self) -> "Report":
        return replace(self, timeline=())

    def __str__(self) -> str:
        verdict = f"{len(self.violations)} violations" if self.violations else "ok"
        return (
            f"seed {self.seed}: {verdict}, {self.tasks} tasks, {self.claims} claims,"
            f" {self.kills} kills, {self.requests} requests,"
            f" {self.simulated_seconds / 60:.0f} min, trace {self.trace_hash}"
        )


def simulate(seed: int, *, clock_skew: float | None = None) -> Report:
    with silence(), contextlib.closing(Yard(seed, clock_skew=clock_skew)) as yard:
        for _ in range(yard.dice.randint(0, 2)):
            yard.world.after(yard.dice.uniform(0, 300), yard.send_poison)
        for _ in range(yard.dice.randint(0, 2)):
            yard.world.after(yard.dice.uniform(0, 300), yard.send_foreign)
        for _ in range(yard.dice.randint(0, 4)):
            yard.world.after(yard.dice.uniform(0, STORM_SECONDS), yard.change)
        yard.run(jobs=yard.dice.randint(1, 4))
        if yard.world.chance(0.5):
            yard.change_in_calm(Change.REDRIVE)
        return _report(seed, yard)


def _report(seed: int, yard: Yard) -> Report:
    lines = yard.world.trace.lines
    return Report(
        seed=seed,
        weather=str(yard.weather),
        trace_hash=yard.world.trace.hash,
        violations=tuple(violations(yard)),
        tasks=sum(not task.hidden for task in yard.history.tasks),
        claims=len(yard.children),
        kills=sum(line.what.startswith("KILLED") for line in lines),
        requests=len(lines),
        simulated_seconds=yard.world.now,
        timeline=tuple(map(str, lines)),
    )


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """The worker's log would drown the timeline, which says the same."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
