"""One seed, one harness, one report."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.checker import Violation, violations
from tests.simulation.harness import STORM_SECONDS, Harness
from tests.simulation.scripted.changes import Change
from tests.simulation.scripted.large_jobs import LargeJob

SEEDS_PER_LARGE_JOB: Final = 10
"""Every tenth seed has a large job that is cancelled; it takes longer than others."""
WIDEST: Final = 150


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
    with silence(), contextlib.closing(Harness(seed, clock_skew=clock_skew)) as harness:
        for _ in range(harness.dice.randint(0, 2)):
            harness.world.after(harness.dice.uniform(0, 300), harness.send_poison)
        for _ in range(harness.dice.randint(0, 2)):
            harness.world.after(harness.dice.uniform(0, 300), harness.send_foreign)
        for _ in range(harness.dice.randint(0, 4)):
            harness.world.after(harness.dice.uniform(0, STORM_SECONDS), harness.change)
        if seed % SEEDS_PER_LARGE_JOB == 0:
            _add_large_job(harness)
        harness.run(jobs=harness.dice.randint(1, 4))
        if harness.world.chance(0.5):
            harness.change_in_calm(Change.REDRIVE)
        return _report(seed, harness)


def _add_large_job(harness: Harness) -> None:
    large = LargeJob(harness, width=harness.dice.randint(WIDEST // 5, WIDEST))
    large.submit(cancel_after=harness.dice.uniform(20, 200))


def _report(seed: int, harness: Harness) -> Report:
    lines = harness.world.trace.lines
    return Report(
        seed=seed,
        weather=str(harness.weather),
        trace_hash=harness.world.trace.hash,
        violations=tuple(violations(harness)),
        tasks=sum(not task.hidden for task in harness.history.tasks),
        claims=len(harness.children),
        kills=sum(line.what.startswith("KILLED") for line in lines),
        requests=len(lines),
        simulated_seconds=harness.world.now,
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
