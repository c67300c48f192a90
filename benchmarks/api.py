"""Measures what requests to the API and cold starts cost, on a local cloud of their own.

Times are those of a caller on this machine, so MiniStack's share is in them; calls to AWS are
counted where the function makes them. The last line is JSON.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import httpx

from benchmarks.cold_starts import ColdStart, Import, cold_starts
from benchmarks.output import say
from switchyard.adapters.system import SystemClock
from tests.e2e.conftest import RunningCloud, running
from tests.e2e.documents import DEFINITION

TASKS: Final = 5
WARM_UP: Final = 5
API: Final = "switchyard-local-api"

clock = SystemClock()


@dataclass(frozen=True)
class Measured:
    name: str
    times_ms: list[float]
    calls: Counter[str]
    """The calls to AWS by action; a request that writes several items counts as several."""

    @property
    def percentiles(self) -> tuple[float, float]:
        twentieths = quantiles(self.times_ms, n=20)
        return twentieths[9], twentieths[18]

    @property
    def calls_per_request(self) -> float:
        return self.calls.total() / len(self.times_ms)

    def __str__(self) -> str:
        p50, p95 = self.percentiles
        each = (f"{what} {count / len(self.times_ms):g}" for what, count in self.calls.items())
        return (
            f"  {self.name:<7} p50 {p50:6.1f} ms, p95 {p95:6.1f} ms,"
            f" {self.calls_per_request:g} calls: {', '.join(each)}"
        )


def main(requests: int) -> int:
    with tempfile.TemporaryDirectory() as name, running(Path(name), thinks_ms=0) as cloud:
        figures = list(measured(cloud, requests))
    say(f"{requests} requests each, one after the other; a job has {TASKS} tasks:")
    for figure in figures:
        say(str(figure))
    boto3, starts = cold_starts()
    say(
        f"Cold starts, beside {boto3.cpu_ms:.0f} ms ({boto3.wall_ms:.0f} by the clock)"
        " for boto3 and a client:"
    )
    for start in starts:
        say(str(start))
    say(json.dumps(summary(figures, boto3, starts)))
    return 0 if all(start.within_budget for start in starts) else 1


def measured(cloud: RunningCloud, requests: int) -> Iterator[Measured]:
    with cloud.http as http:
        http.put("/task-definitions/do", json=DEFINITION).raise_for_status()
        job = {"tasks": [{"taskId": f"t-{number}", "name": "do"} for number in range(TASKS)]}
        job_id = http.post("/jobs", json=job).json()["jobId"]
        asked: dict[str, Callable[[], httpx.Response]] = {
            "get": lambda: http.get(f"/jobs/{job_id}"),
            "list": lambda: http.get("/jobs"),
            "create": lambda: http.post("/jobs", json=job),
        }
        for name, ask in asked.items():
            for _ in range(WARM_UP):
                ask().raise_for_status()
            with counted(cloud) as calls:
                times = [timed(ask) for _ in range(requests)]
            yield Measured(name, times, calls)


def timed(ask: Callable[[], httpx.Response]) -> float:
    began = clock.monotonic()
    ask().raise_for_status()
    return (clock.monotonic() - began) * 1000


@contextmanager
def counted(cloud: RunningCloud) -> Iterator[Counter[str]]:
    """The function's own calls: the authorizer's are made once a minute for each key."""
    calls: Counter[str] = Counter()
    before = len(cloud.calls.read_text().splitlines())
    yield calls
    for line in cloud.calls.read_text().splitlines()[before:]:
        principal, action, _resource = json.loads(line)
        calls.update([action] if principal == API else [])


def summary(
    figures: list[Measured], boto3: Import, starts: list[ColdStart]
) -> dict[str, dict[str, Any]]:
    return {
        "requests": {
            figure.name: {
                "p50_ms": round(figure.percentiles[0], 1),
                "p95_ms": round(figure.percentiles[1], 1),
                "aws_calls": round(figure.calls_per_request, 2),
            }
            for figure in figures
        },
        "cold_starts": {
            "boto3_ms": round(boto3.cpu_ms),
            **{start.verb: figures_of(start) for start in starts},
        },
    }


def figures_of(start: ColdStart) -> dict[str, float]:
    return {
        "ms": round(start.best.cpu_ms),
        "wall_ms": round(start.best.wall_ms),
        "ratio": round(start.ratio, 2),
        "beyond_boto3": round(start.own, 2),
        "allowed": round(start.most, 2),
    }


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
