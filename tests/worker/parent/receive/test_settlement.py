"""What follows from a verdict that says when to come back."""

import asyncio
from dataclasses import replace

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from switchyard.testing import ManualClock
from switchyard.usecases.scheduling.marks import Marks
from switchyard_worker.parent.attempts.verdict import Concluded, failed
from switchyard_worker.parent.receive.settlement import Settlement
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import NOW_MS
from tests.worker.harness import WorkerHarness

LIMITED = failed(category=FailureCategory.RATE_LIMIT, error="slower", retry_after_ms=30_000)
A_DAY_LATER_MS = 24 * 60 * 60 * 1000


def settle(
    harness: WorkerHarness, failure: Concluded, *, waited_ms: int = 0, flagged: bool = False
) -> None:
    clock = ManualClock(NOW_MS + waited_ms)
    ref = harness.add_task(ready_at_ms=NOW_MS)
    claimed = harness.memory.leases.claim(ref, owner="me", now_ms=clock.now_ms(), lease_ms=45_000)
    assert isinstance(claimed, Claimed)
    if flagged:
        harness.memory.cancelling.cancel(claimed.task, now_ms=clock.now_ms())
    ports = replace(harness.ports(), clock=clock)
    settlement = Settlement(
        runtime_of(ports),
        ports.leases,
        ports.queue,
        ports.emitter,
        ports.limits,
        Marks(ports.clocks, clock),
    )
    asyncio.run(settlement.settle(claimed, failure))


def test_a_rate_limit_that_says_how_long_parks_the_task_at_no_cost(harness: WorkerHarness) -> None:
    settle(harness, LIMITED)

    task = harness.task()
    assert (task.state, task.attempt) == (TaskState.QUEUED, 0)
    assert task.not_before_ms == NOW_MS + 30_000
    assert task.last_error == "slower"
    assert harness.emitted == ["Task Released"]


def test_what_was_paid_for_costs_its_attempt_and_waits_as_long(harness: WorkerHarness) -> None:
    settle(harness, LIMITED.changed(usage=Usage(output_tokens=5)))

    task = harness.task()
    assert (task.state, task.attempt) == (TaskState.QUEUED, 1)
    assert task.not_before_ms == NOW_MS + 30_000
    assert harness.emitted == ["Task Processing Failed"]


@pytest.mark.parametrize("usage", [Usage(), Usage(output_tokens=5)])
def test_past_its_deadline_a_task_is_parked_no_more(harness: WorkerHarness, usage: Usage) -> None:
    settle(harness, LIMITED.changed(usage=usage), waited_ms=A_DAY_LATER_MS)

    outcome = harness.task().outcome
    assert harness.task().state is TaskState.FAILED
    assert outcome is not None
    assert outcome.error_category == "rate-limit"
    assert harness.emitted == ["Task Failed"]


@pytest.mark.parametrize("usage", [Usage(), Usage(output_tokens=5)], ids=["parked", "retried"])
def test_what_was_flagged_while_it_ran_is_not_tried_again(
    harness: WorkerHarness, usage: Usage
) -> None:
    settle(harness, LIMITED.changed(usage=usage), flagged=True)

    task = harness.task()
    assert task.state is TaskState.CANCELLED
    assert task.outcome is not None
    assert task.outcome.error == "cancellation was requested"
    assert "Task Cancelled" in harness.emitted
