"""Measures what one job costs, whether that grows too fast, and whether MiniStack agrees."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from benchmarks.dispatch_harness import DispatchHarness
from benchmarks.meter import Meter, counted_by_botocore
from benchmarks.shapes import a_job
from benchmarks.simulated_aws import simulated_aws
from tests.contract.clouds import Cloud

MOST_GROWTH: Final = 11.0
"""The most that costs may grow for ten times as many tasks."""
MOST_WRITES: Final = 110
"""The most writes of one item: a hundred names leave it, then it is decided, claimed, settled."""

Progress = Callable[[str], Callable[[], None]]
"""Receives the name of what is measured; the result is invoked with every call to AWS."""


@dataclass(frozen=True)
class Cost:
    shape: str
    tasks: int
    meter: Meter

    def __str__(self) -> str:
        return f"{self.shape} of {self.tasks:,}"

    @property
    def calls(self) -> int:
        return self.meter.calls.total()

    @property
    def write_units(self) -> int:
        return self.meter.units.total()

    @property
    def most_written(self) -> tuple[str, int]:
        """An item, by its sort key, and how often it was written."""
        ((key, writes),) = self.meter.writes.most_common(1)
        return key[1], writes


def silent(_what: str) -> Callable[[], None]:
    return lambda: None


def measured(shape: str, tasks: int, *, progress: Progress = silent) -> Cost:
    cost = Cost(shape, tasks, Meter())
    cost.meter.on_call = progress(str(cost))
    with simulated_aws(cost.meter) as clients:
        DispatchHarness(clients, cost.meter).run(a_job(shape, tasks))
    return cost


def measured_on(cloud: Cloud, shape: str, tasks: int, *, progress: Progress = silent) -> Cost:
    """Count the calls on MiniStack, which does not weigh writes."""
    cost = Cost(shape, tasks, Meter())
    cost.meter.on_call = progress(f"{cost} on MiniStack")
    with counted_by_botocore(cloud.client, cost.meter) as clients:
        DispatchHarness(clients, cost.meter, fresh=cloud.fresh).run(a_job(shape, tasks))
    return cost


def differences(counted: Cost, sent: Cost) -> list[str]:
    ours, theirs = counted.meter.operations(), sent.meter.operations()
    return [
        f"{counted}: {name} counted {ours[name]} times, sent {theirs[name]} times"
        for name in sorted(ours | theirs)
        if ours[name] != theirs[name]
    ]


def growth(smaller: Cost, larger: Cost) -> float:
    """Return the growth of calls or write units for ten times the tasks, whichever is faster."""
    tenfold = 10 * smaller.tasks / larger.tasks
    calls = larger.calls / smaller.calls
    return tenfold * max(calls, larger.write_units / smaller.write_units)


def problems_in(costs: Sequence[Cost]) -> list[str]:
    """Find the problems of one shape, smallest job first; the largest two show the growth."""
    return [*_hot_items(costs), *_fast_growth(costs[-2:])]


def _hot_items(costs: Iterable[Cost]) -> list[str]:
    return [
        f"{cost}: {item} is written {writes} times, {MOST_WRITES} are allowed"
        for cost in costs
        for item, writes in [cost.most_written]
        if writes > MOST_WRITES
    ]


def _fast_growth(costs: Iterable[Cost]) -> list[str]:
    return [
        f"{larger} costs {growth(smaller, larger):.2f} times as much as {smaller},"
        f" {MOST_GROWTH:g} times is allowed"
        for smaller, larger in pairwise(costs)
        if growth(smaller, larger) > MOST_GROWTH
    ]
