"""Nodes whose clocks are minutes off, and that know AWS's time to within a second or two."""

import pytest

from tests.simulation.checker import violations
from tests.simulation.harness import Harness
from tests.simulation.run import Report, simulate
from tests.simulation.scripted.one_task import (
    A_POLL_LATER,
    A_SWEEP_LATER,
    WAYS,
    OneTask,
    longest_idle,
    messages_deleted,
)
from tests.simulation.stage.workers import TIMING
from tests.simulation.weather import Weather

FIVE_MINUTES = 300.0
SEEDS = range(101, 103)
CLOCK_ERROR_SECONDS = 2.5
"""The error of two nodes together, as they estimate AWS's time."""


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    return [simulate(seed, clock_skew=FIVE_MINUTES) for seed in SEEDS]


def test_no_invariant_is_violated_when_every_clock_is_wrong(reports: list[Report]) -> None:
    assert {r.seed: list(map(str, r.violations)) for r in reports if r.violations} == {}


@pytest.mark.parametrize("ahead", [-FIVE_MINUTES, FIVE_MINUTES])
@pytest.mark.parametrize("way", range(1, WAYS, 4))
def test_a_killed_workers_task_does_not_wait_for_its_clock(way: int, ahead: float) -> None:
    one = OneTask(seed=way, weather=Weather(clock_skew=FIVE_MINUTES), ahead=ahead)
    node = one.doomed.node
    node.fate[way] = lambda: node.kill("on purpose")
    one.run()
    assert violations(one.harness) == []
    bound = A_SWEEP_LATER if messages_deleted(one.harness) > 1 else A_POLL_LATER
    assert longest_idle(one.harness) <= bound + CLOCK_ERROR_SECONDS


@pytest.mark.parametrize("ahead", [-FIVE_MINUTES, FIVE_MINUTES])
def test_a_task_that_is_renewed_is_not_claimed_by_another_worker(ahead: float) -> None:
    """The task's message is delivered every few seconds, to workers whose clocks are all wrong."""
    one = OneTask(
        seed=1,
        seconds=4 * TIMING.lease_seconds,
        weather=Weather(clock_skew=FIVE_MINUTES),
        ahead=ahead,
    )
    redeliver_for_ever(one.harness)
    one.run()
    assert violations(one.harness) == []
    assert len(one.harness.children) == 1


def redeliver_for_ever(harness: Harness, *, seconds: float = 5.0) -> None:
    for message in list(harness.cloud.tasks.messages.values())[:1]:
        harness.cloud.tasks.put(message.body)
    harness.world.after(seconds, redeliver_for_ever, harness)
