"""What an agent that ran out of time means for its task."""

import pytest

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard_worker.parent.attempts.verdict import at_deadline, failed, timed_out

TIMEOUT_MS = 300_000
USAGE = Usage(output_tokens=7, cost_usd=0.5)
LATE = failed(category=FailureCategory.TIMEOUT, error="no answer", usage=USAGE)


def test_the_agents_own_end_at_the_deadline_ends_the_task_and_tells_what_it_cost() -> None:
    ended = at_deadline(LATE, timeout_ms=TIMEOUT_MS, ran_ms=297_500)
    assert ended == timed_out(
        timeout_ms=TIMEOUT_MS, duration_ms=297_500, signal="SIGTERM", usage=USAGE
    )


def test_a_step_that_had_less_time_may_be_tried_again() -> None:
    assert at_deadline(LATE, timeout_ms=TIMEOUT_MS, ran_ms=120_000) == LATE


@pytest.mark.parametrize("category", [FailureCategory.NETWORK, FailureCategory.VALIDATION])
def test_another_failure_at_the_deadline_stays_what_it_is(category: FailureCategory) -> None:
    failure = failed(category=category, error="x")
    assert at_deadline(failure, timeout_ms=TIMEOUT_MS, ran_ms=299_000) == failure
