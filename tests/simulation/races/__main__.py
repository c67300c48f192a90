"""`python -m tests.simulation.races --races 10000`, or `--kind adding --seed 7` for its timeline.

Of every twenty races nineteen are those of two parents that settle together; as many of the others
as of each other make up the rest.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from tests.simulation.races.run import KINDS, Result, race

FIRST, *OTHERS = KINDS
FEWER = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="make races", description=__doc__)
    parser.add_argument("--races", type=int, default=10_000, help="how many of the first kind")
    parser.add_argument("--kind", choices=list(KINDS), help="only this kind")
    parser.add_argument("--seed", type=int, help="one race, with its whole timeline")
    given = parser.parse_args()
    if given.seed is not None:
        return show(race(given.kind or FIRST, given.seed))
    if given.kind:
        return survey([(given.kind, seed) for seed in range(given.races)])
    fewer = max(given.races // FEWER, 1)
    return survey(
        [(FIRST, seed) for seed in range(given.races)]
        + [(kind, seed) for kind in OTHERS for seed in range(fewer)]
    )


def show(result: Result) -> int:
    print(*result.timeline, *result.problems, sep="\n")
    return 1 if result.problems else 0


def survey(wanted: list[tuple[str, int]]) -> int:
    began = time.monotonic()
    count: Counter[str] = Counter()
    crashes = bad = 0
    for result in _raced(wanted):
        count[result.kind] += 1
        crashes += result.crashes
        bad += bool(result.problems)
        if result.problems:
            print(f"{result.kind}, seed {result.seed}:", *result.problems, sep="\n    ", flush=True)
        elif count.total() % 1_000 == 0:
            print(f"{count.total():,} of {len(wanted):,} races", flush=True)
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in count.items())
    print(f"{kinds}; {crashes:,} crashes in {time.monotonic() - began:.0f} s")
    print(f"{count.total():,} races, {bad:,} lost")
    return 1 if bad else 0


def _raced(wanted: list[tuple[str, int]]) -> Iterator[Result]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(_without_timeline, wanted, chunksize=20)


def _without_timeline(wanted: tuple[str, int]) -> Result:
    return replace(race(*wanted), timeline=())


if __name__ == "__main__":
    sys.exit(main())
