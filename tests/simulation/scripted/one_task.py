"""A harness with one task, of which one worker meets its fate."""

import contextlib
from dataclasses import dataclass
from typing import Final

import pytest

from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from switchyard_worker.parent.attempts.verdict import Verdict, completed
from tests.builders import a_submission
from tests.simulation.harness import Harness
from tests.simulation.run import silence
from tests.simulation.script import Script
from tests.simulation.stage.functions import SWEEP_SECONDS
from tests.simulation.stage.workers import TIMING
from tests.simulation.weather import CALM, Weather

WORK_SECONDS: Final = 30.0
POLL_SECONDS: Final = 20.0
LATENCY_SECONDS: Final = 5.0
"""For the requests between two steps, each below half a second."""
A_POLL_LATER: Final = TIMING.visibility_seconds + POLL_SECONDS + LATENCY_SECONDS
A_SWEEP_LATER: Final = (
    TIMING.lease_seconds + due.AFTER_LEASE / 1000 + SWEEP_SECONDS + LATENCY_SECONDS
)
WAYS: Final = 26
"""To services and back: a worker that runs one task takes about so many."""
every_way = pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.long if way % 3 else ()) for way in range(1, WAYS)]
)


@dataclass
class OneWay(Script):
    """Every attempt takes as long as the last, and completes."""

    seconds: float

    def draw(self, claimed: Claimed) -> tuple[float, Verdict]:
        output = {"of": claimed.task.ref.request_id}
        return self.seconds, completed(output=output, usage=Usage(), duration_ms=1)


class OneTask:
    """A harness with one task to run, one worker that meets its fate, and one that waits."""

    def __init__(
        self,
        seed: int,
        *,
        seconds: float = WORK_SECONDS,
        weather: Weather = CALM,
        ahead: float = 0.0,
    ) -> None:
        """`ahead` is the clock of the first worker; that of the second is as far behind."""
        self.harness = Harness(seed, weather=weather, workers=0, script=OneWay(seconds))
        self._ahead = ahead
        self.doomed = self.harness.new_worker(ahead=ahead)
        self.harness.submit(a_submission({"only": []}))

    def run(self) -> None:
        with silence(), contextlib.closing(self.harness):
            self.harness.world.run_until(self._is_under_way, look_every=0.01, at_most=60.0)
            self.harness.new_worker(ahead=-self._ahead)
            self.harness.settle()

    def _is_under_way(self) -> bool:
        open_job = any(job.state is JobState.OPEN for job in self.harness.history.jobs.values())
        return open_job and bool(self.harness.children or not self.doomed.node.alive)


def messages_deleted(harness: Harness) -> int:
    return sum(line.what == "delete message batch" for line in harness.world.trace.lines)


def longest_idle(harness: Harness) -> float:
    """How long the task waited, at most, for somebody to run it or to settle it."""
    [task] = [t for t in harness.history.tasks if not t.hidden]
    ready = next(v.at for v in harness.history.tasks[task] if v.new.state is TaskState.READY)
    settled = next(v.at for v in harness.history.tasks[task] if v.new.state.settled)
    edges = [ready, *(t for c in harness.children for t in (c.began, c.ended or c.began)), settled]
    return max(later - earlier for earlier, later in zip(edges[::2], edges[1::2], strict=True))
