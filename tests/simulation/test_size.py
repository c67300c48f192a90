"""A large job is cancelled while others run: it starts nothing more, and holds nobody up."""

import contextlib

import pytest

from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState, TaskState
from tests.simulation.asking import cancelling
from tests.simulation.checker import violations
from tests.simulation.harness import Harness
from tests.simulation.jobs import TENANTS, submission
from tests.simulation.run import silence
from tests.simulation.scripted.large_jobs import find_wide_job, wide_job
from tests.simulation.stage.workers import SETTINGS
from tests.simulation.weather import CALM

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]
WORKERS = 3
WIDE = 30
CANCEL_AT = 45.0
QUEUED = {TaskState.READY, TaskState.QUEUED}
DISPATCHER_BUSY_SECONDS = 30.0
"""When the cancel comes: until then nobody visits its tasks, and workers go on receiving."""
MOST_SECONDS = 90.0
"""Until the last task of the cancelled job has settled; those that run are stopped by a renewal."""


class SizedHarness(Harness):
    """A wide job of one tenant that is cancelled, and small ones of both."""

    def __init__(self, seed: int, *, calm: bool) -> None:
        super().__init__(seed, workers=WORKERS, weather=CALM if calm else None)
        self.waiting = 0
        """How many tasks a worker could have taken when the cancel was asked for."""
        self.invocations.invoke("api", submission(TENANTS[0], wide_job(WIDE), self.dice))
        self.world.after(CANCEL_AT, self._cancel)

    @property
    def wide(self) -> JobRef | None:
        return find_wide_job(self)

    def _cancel(self) -> None:
        """Again until it is accepted: in bad weather a request may be lost."""
        ref = self.wide
        if ref is None or self.history.jobs[ref].state is not JobState.OPEN:
            return
        if (ref, 1) not in self.history.cancelled_at:
            states = self.states_of(self.history.jobs[ref]).values()
            self.waiting = sum(state in QUEUED for state in states)
            self.dispatcher.pause(DISPATCHER_BUSY_SECONDS)
            self.invocations.invoke("api", cancelling(ref))
            self.world.after(10.0, self._cancel)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_job_is_cancelled_soon_and_starts_nothing_more(seed: int) -> None:
    with silence(), contextlib.closing(SizedHarness(seed, calm=True)) as harness:
        harness.run(jobs=3, storm_seconds=180.0)
        assert violations(harness) == []
        wide = harness.wide
        assert wide is not None
        assert harness.waiting > WIDE / 3
        accepted = harness.history.cancelled_at[wide, 1]
        settled = max(v[-1].at for ref, v in harness.history.tasks.items() if ref.job == wide)
        assert settled - accepted < MOST_SECONDS
        started = [child for child in harness.children if child.ref.job == wide]
        late = [child for child in started if child.began > accepted]
        assert len(late) <= WORKERS * SETTINGS.max_concurrent_claude
        assert harness.history.jobs[wide].state is JobState.CANCELLED


@pytest.mark.parametrize("seed", SEEDS)
def test_in_bad_weather_the_invariants_hold_for_a_large_job_that_is_cancelled(seed: int) -> None:
    with silence(), contextlib.closing(SizedHarness(seed, calm=False)) as harness:
        harness.run(jobs=2, storm_seconds=300.0)
        assert violations(harness) == []
