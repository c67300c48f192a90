"""`python -m tests.simulation --seeds 500`, or `--seed 7` for its timeline."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.simulation.run import Report, simulate

UNEVENTFUL = (": 0 found", "receive nothing")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=_positive, help="how many harnesses to simulate")
    parser.add_argument("--first", type=int, default=1, help="the first of them (default 1)")
    parser.add_argument("--seed", type=int, help="one harness, with its whole timeline")
    parser.add_argument("--clock-skew", type=float, help="how many seconds clocks are off, at most")
    given = parser.parse_args()
    if (given.seed is None) == (given.seeds is None):
        parser.error("name either SEEDS=how-many or SEED=which")
    if given.seed is not None:
        return show(simulate(given.seed, clock_skew=given.clock_skew))
    return survey(range(given.first, given.first + given.seeds), clock_skew=given.clock_skew)


def show(report: Report) -> int:
    print(f"weather: {report.weather}")
    print(*(line for line in report.timeline if not line.endswith(UNEVENTFUL)), sep="\n")
    print(*report.violations, sep="\n")
    print(report)
    return 1 if report.violations else 0


def survey(seeds: range, *, clock_skew: float | None = None) -> int:
    """Every seed's violations at once, progress now and then, one sum at the end."""
    began = time.monotonic()
    reports: list[Report] = []
    try:
        for report in _simulated(seeds, clock_skew):
            reports.append(report)
            if report.violations:
                print(report, *report.violations, f"weather: {report.weather}", sep="\n    ")
            elif len(reports) % 50 == 0:
                print(f"{len(reports)} of {len(seeds)} seeds", flush=True)
    except KeyboardInterrupt:
        print(f"stopped after {len(reports)} of {len(seeds)} seeds")
    _sum_up(reports, time.monotonic() - began)
    return 1 if any(report.violations for report in reports) else 0


def _simulated(seeds: range, clock_skew: float | None) -> Iterator[Report]:
    one = partial(_without_timeline, clock_skew=clock_skew)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, seeds, chunksize=5)


def _without_timeline(seed: int, *, clock_skew: float | None) -> Report:
    return simulate(seed, clock_skew=clock_skew).without_timeline()


def _sum_up(reports: list[Report], seconds: float) -> None:
    tasks, claims, kills, requests = (
        sum(getattr(report, name) for report in reports)
        for name in ("tasks", "claims", "kills", "requests")
    )
    hours = sum(report.simulated_seconds for report in reports) / 3600
    print(
        f"{tasks:,} tasks, {claims:,} claims, {kills:,} kills, {requests:,} requests,"
        f" {hours:,.0f} simulated hours in {seconds:.0f} s"
    )
    print(f"{len(reports)} seeds, {sum(len(report.violations) for report in reports)} violations")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seeds")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
