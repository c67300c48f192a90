"""Tenants share real workers of a simulated stage, also after wake-ups were lost."""

import contextlib
from dataclasses import dataclass
from typing import Final

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from switchyard_worker.parent.attempts.verdict import Verdict, completed
from tests.builders import a_submission
from tests.simulation.checker import violations
from tests.simulation.harness import Harness
from tests.simulation.jobs import TENANTS, submission
from tests.simulation.run import silence
from tests.simulation.script import Script
from tests.simulation.stage.functions import SWEEP_SECONDS
from tests.simulation.weather import CALM, Weather

WORKERS: Final = 2
SLOTS: Final = 2 * WORKERS
WORK_SECONDS: Final = 8.0
CACHE_SECONDS: Final = 1.0
LATENCY_SECONDS: Final = 3.0
POLL_SECONDS: Final = 20.0
BUSY, QUIET = TENANTS


@dataclass
class Priced(Script):
    """Every attempt takes as long as the last, and costs what its tenant's tasks cost."""

    usd: dict[str, float]

    def draw(self, claimed: Claimed) -> tuple[float, Verdict]:
        usage = Usage(cost_usd=self.usd[claimed.task.ref.tenant])
        output = {"of": claimed.task.ref.request_id}
        return WORK_SECONDS, completed(output=output, usage=usage, duration_ms=1)


class SharedStage:
    def __init__(
        self, seed: int, *, weather: Weather = CALM, busy_usd: float = 1.0, quiet_usd: float = 1.0
    ) -> None:
        script = Priced({BUSY: busy_usd, QUIET: quiet_usd})
        self.harness = Harness(seed, weather=weather, workers=WORKERS, script=script)

    def submit(self, tenant: str, tasks: int) -> None:
        job = a_submission({f"t{number:03}": [] for number in range(tasks)})
        harness = self.harness
        harness.invocations.invoke("api", submission(tenant, job, harness.dice))

    def run_for(self, seconds: float) -> None:
        self.harness.world.run_until(lambda: False, look_every=1.0, at_most=seconds)

    def starts(self) -> list[tuple[float, str]]:
        """Return when a task of which tenant was started."""
        return sorted((child.began, child.ref.tenant) for child in self.harness.children)

    def queued_at(self, tenant: str) -> float:
        """Return when the first task of a tenant was in the index."""
        return min(
            version.at
            for ref, versions in self.harness.history.tasks.items()
            for version in versions
            if ref.tenant == tenant and version.new.state is TaskState.QUEUED
        )


def test_a_quiet_tenants_task_behind_a_backlog_starts_with_the_next_free_slot() -> None:
    stage = SharedStage(1)
    with silence(), contextlib.closing(stage.harness):
        stage.submit(BUSY, 60)
        stage.run_for(40)
        stage.submit(QUIET, 1)
        stage.run_for(40)
        seen_at = stage.queued_at(QUIET) + CACHE_SECONDS
        (began,) = [at for at, tenant in stage.starts() if tenant == QUIET]
        earlier = [at for at, _ in stage.starts() if seen_at < at < began - LATENCY_SECONDS]
        assert earlier == []
        stage.harness.settle()
    assert violations(stage.harness) == []


def test_two_backlogged_tenants_spend_the_same() -> None:
    stage = SharedStage(2, busy_usd=4.0, quiet_usd=1.0)
    with silence(), contextlib.closing(stage.harness):
        stage.submit(BUSY, 40)
        stage.submit(QUIET, 40)
        stage.run_for(120)
        tenants = [tenant for _, tenant in stage.starts()]
        assert QUIET in tenants[-8:]  # both still have a backlog
        spent = {BUSY: 4.0 * tenants.count(BUSY), QUIET: 1.0 * tenants.count(QUIET)}
        assert abs(spent[BUSY] - spent[QUIET]) <= 4.0 * (SLOTS + SLOTS)
        assert tenants.count(QUIET) > tenants.count(BUSY)
        stage.harness.settle()
    assert violations(stage.harness) == []


def test_lost_tokens_are_made_good_by_one_sweep_and_one_poll() -> None:
    stage = SharedStage(3)
    with silence(), contextlib.closing(stage.harness):
        stage.submit(BUSY, 12)
        world = stage.harness.world
        world.run_until(lambda: len(stage.starts()) == SLOTS, look_every=0.1, at_most=60.0)
        stage.run_for(1)
        started = len(stage.starts())
        lost_at = stage.harness.world.now
        for number in [n for n, m in stage.harness.cloud.tasks.messages.items() if not m.receives]:
            del stage.harness.cloud.tasks.messages[number]
        stage.harness.settle()
        later = [at for at, _ in stage.starts()[started:]]
    assert started == SLOTS
    assert max(later) - lost_at <= SWEEP_SECONDS + POLL_SECONDS + 3 * WORK_SECONDS + 10
    assert violations(stage.harness) == []


def test_a_lagging_index_delays_no_task_that_has_its_own_token() -> None:
    stage = SharedStage(4, weather=Weather(index_lag=4 * 3600.0))
    with silence(), contextlib.closing(stage.harness):
        stage.submit(BUSY, 12)
        stage.run_for(60)
        assert len(stage.starts()) == 12
        stage.harness.cloud.clear_up()
        stage.harness.settle()
    assert violations(stage.harness) == []
