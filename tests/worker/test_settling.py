"""What follows from a verdict that says when to come back."""

import asyncio
from dataclasses import replace

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from tests.builders import NOW_MS
from tests.worker.yard import WorkerYard
from worker.parent.attempts.verdict import Failed
from worker.parent.receive.settlement import Settling

LIMITED = Failed(category=FailureCategory.RATE_LIMIT, error="slower", retry_after_ms=30_000)
A_DAY_LATER_MS = 24 * 60 * 60 * 1000


def settle(yard: WorkerYard, failed: Failed, *, waited_ms: int = 0, flagged: bool = False) -> None:
    clock = ManualClock(NOW_MS + waited_ms)
    ref = yard.add_task(ready_at_ms=NOW_MS)
    claimed = yard.memory.leases.claim(ref, owner="me", now_ms=clock.now_ms(), lease_ms=45_000)
    assert isinstance(claimed, Claimed)
    if flagged:
        yard.memory.cancelling.cancel(claimed.task, now_ms=clock.now_ms())
    ports = replace(yard.ports(), clock=clock)
    asyncio.run(Settling(ports).settle(claimed, failed))


def test_a_rate_limit_that_says_how_long_parks_the_task_at_no_cost(yard: WorkerYard) -> None:
    settle(yard, LIMITED)

    task = yard.task()
    assert (task.state, task.attempt) == (TaskState.QUEUED, 0)
    assert task.not_before_ms == NOW_MS + 30_000
    assert task.last_error == "slower"
    assert yard.told == ["Task Released"]


def test_what_was_paid_for_costs_its_attempt_and_waits_as_long(yard: WorkerYard) -> None:
    settle(yard, replace(LIMITED, usage=Usage(output_tokens=5)))

    task = yard.task()
    assert (task.state, task.attempt) == (TaskState.QUEUED, 1)
    assert task.not_before_ms == NOW_MS + 30_000
    assert yard.told == ["Task Processing Failed"]


@pytest.mark.parametrize("usage", [Usage(), Usage(output_tokens=5)])
def test_past_its_deadline_a_task_is_parked_no_more(yard: WorkerYard, usage: Usage) -> None:
    settle(yard, replace(LIMITED, usage=usage), waited_ms=A_DAY_LATER_MS)

    outcome = yard.task().outcome
    assert yard.task().state is TaskState.FAILED
    assert outcome is not None
    assert outcome.error_category == "rate-limit"
    assert yard.told == ["Task Failed"]


@pytest.mark.parametrize("usage", [Usage(), Usage(output_tokens=5)], ids=["parked", "retried"])
def test_what_was_flagged_while_it_ran_is_not_tried_again(yard: WorkerYard, usage: Usage) -> None:
    settle(yard, replace(LIMITED, usage=usage), flagged=True)

    task = yard.task()
    assert task.state is TaskState.CANCELLED
    assert task.outcome is not None
    assert task.outcome.error == "cancellation was requested"
    assert "Task Cancelled" in yard.told
