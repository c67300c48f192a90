"""Measures what it costs to accept, write and dispatch a job, and how that grows with its tasks.

Jobs of several shapes run through the real functions on a simulated AWS, where requests are counted
and writes weighed. What workers do is left out, except in how often one item is written. Small jobs
run on MiniStack too, where botocore counts. The last line is JSON.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.costs import Cost, differences, growth, measured, measured_on, problems_in
from benchmarks.dispatch_harness import MESSAGES_PER_BATCH, WORKERS
from benchmarks.output import say
from benchmarks.shapes import AT_RUN_TIME, MOST_ABOVE_STATIC, SHAPES, STATIC
from switchyard.adapters.system import SystemClock
from tests.contract.clouds import on_ministack

SIZES: Final = (100, 1_000, 10_000)
NAMED: Final = 3
TELL_EVERY_SECONDS: Final = 2.0

Costs = Mapping[str, Sequence[Cost]]
"""The costs of each shape, the smallest job first."""


def main() -> int:
    say(
        "Calls and write units of submitting, writing and dispatching; workers' are left out."
        f" {WORKERS} tasks settle at once, a batch has {MESSAGES_PER_BATCH} wake-ups at most."
    )
    costs = {shape: [reported(shape, tasks) for tasks in SIZES] for shape in SHAPES}
    problems = [problem for of_shape in costs.values() for problem in problems_in(of_shape)]
    problems += dearer_than_declared(costs)
    problems += cross_checked(costs)
    for problem in problems:
        say(f"FAILED: {problem}")
    say(json.dumps(summary(costs)))
    return 1 if problems else 0


def reported(shape: str, tasks: int) -> Cost:
    cost = measured(shape, tasks, progress=every_two_seconds)
    item, writes = cost.most_written
    say(f"{cost}: at most {writes} writes of one item ({item}), workers' included")
    for what, counted in (("calls", cost.meter.calls), ("write units", cost.meter.units)):
        dearest = (f"{act} {number / tasks:.2f}" for act, number in counted.most_common(NAMED))
        say(f"  {counted.total() / tasks:6.2f} {what} a task: {', '.join(dearest)}")
    return cost


def dearer_than_declared(costs: Costs) -> Iterator[str]:
    """A fan-out over a result costs little more than one whose tasks were declared."""
    for declared, made in zip(costs[STATIC], costs[AT_RUN_TIME], strict=True):
        for what in ("calls", "write_units"):
            ratio = getattr(made, what) / getattr(declared, what)
            say(f"{made}: {ratio:.3f} times the {what} of one that is declared")
            if ratio > MOST_ABOVE_STATIC and made.tasks == SIZES[-1]:
                yield f"{made} takes {ratio:.2f} times the {what} of one that is declared"


def cross_checked(costs: Costs) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name, on_ministack(Path(name) / "cloud") as cloud:
        for shape, (smallest, *_) in costs.items():
            sent = measured_on(cloud, shape, smallest.tasks, progress=every_two_seconds)
            say(f"{smallest}: {smallest.calls} calls counted, {sent.calls} sent to MiniStack")
            yield from differences(smallest, sent)


def summary(costs: Costs) -> dict[str, object]:
    return {
        "shapes": {
            shape: {
                str(cost.tasks): {"calls": cost.calls, "write_units": cost.write_units}
                for cost in of_shape
            }
            for shape, of_shape in costs.items()
        },
        "worst_growth_10k_over_1k": round(max(growth(*few[-2:]) for few in costs.values()), 3),
        "max_writes_per_item": max(
            cost.most_written[1] for of_shape in costs.values() for cost in of_shape
        ),
    }


def every_two_seconds(what: str) -> Callable[[], None]:
    clock, calls = SystemClock(), 0
    told_at = clock.monotonic()

    def on_call() -> None:
        nonlocal told_at, calls
        calls += 1
        if clock.monotonic() > told_at + TELL_EVERY_SECONDS:
            say(f"    {what}: {calls:,} calls so far")
            told_at = clock.monotonic()

    return on_call


if __name__ == "__main__":
    sys.exit(main())
