"""When a refused task waits at no cost, and when it does not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.postponement import Postpone, decide_postponement, decide_unserved
from switchyard.domain.tasks.retries import GiveUp
from switchyard.domain.tasks.task import Usage, milliseconds
from tests.builders import NOW_MS, a_task

DAY_MS = milliseconds(timedelta(hours=24))
TASK = a_task(state=TaskState.PROCESSING, attempt=1, ready_at_ms=NOW_MS, started_at_ms=NOW_MS + 5)


def decide(
    category: FailureCategory = FailureCategory.RATE_LIMIT,
    *,
    retry_after_ms: int | None = 30_000,
    usage: Usage | None = None,
    now_ms: int = NOW_MS + 10,
) -> Postpone | GiveUp | None:
    return decide_postponement(
        TASK, category, retry_after_ms=retry_after_ms, usage=usage or Usage(), now_ms=now_ms
    )


@pytest.mark.parametrize("category", [FailureCategory.RATE_LIMIT, FailureCategory.SERVER_ERROR])
def test_a_failure_that_names_a_time_postpones_the_task_until_then(
    category: FailureCategory,
) -> None:
    postponed = decide(category)
    assert isinstance(postponed, Postpone)
    assert (postponed.delay_ms, postponed.longest_delay_ms) == (30_000, 37_500)
    assert category in postponed.reason


def test_a_failure_that_names_no_time_is_retried_as_usual() -> None:
    assert decide(FailureCategory.SERVER_ERROR, retry_after_ms=None) is None


def test_a_rate_limit_is_waited_for_though_nobody_says_how_long() -> None:
    postponed = decide(FailureCategory.RATE_LIMIT, retry_after_ms=None)
    assert isinstance(postponed, Postpone)
    assert postponed.delay_ms == 60_000


def test_what_cannot_pass_is_not_waited_for() -> None:
    assert decide(FailureCategory.AUTH) is None


@pytest.mark.parametrize(
    "usage", [Usage(input_tokens=1), Usage(output_tokens=1), Usage(cost_usd=0.01)]
)
def test_an_attempt_that_was_paid_for_counts(usage: Usage) -> None:
    assert decide(usage=usage) is None


def test_a_task_that_waited_very_often_counts_its_attempts_again() -> None:
    often = replace(TASK, fence=101)
    once_more = decide_postponement(
        often, FailureCategory.RATE_LIMIT, retry_after_ms=0, usage=Usage(), now_ms=NOW_MS
    )
    assert once_more is None


def test_nobody_comes_back_at_once() -> None:
    postponed = decide(retry_after_ms=0)
    assert isinstance(postponed, Postpone)
    assert postponed.delay_ms == 1_000


def test_it_waits_until_its_deadline_and_not_beyond() -> None:
    last = NOW_MS + DAY_MS - 30_000
    assert isinstance(decide(now_ms=last), Postpone)
    assert isinstance(decide(now_ms=last + 1), GiveUp)
    assert isinstance(decide(now_ms=last + 1, usage=Usage(cost_usd=1.0)), GiveUp)


def test_a_task_whose_code_a_worker_lacks_waits_longer_each_time() -> None:
    def waited_ms(claims: int) -> int:
        claimed = replace(TASK, fence=claims + 2, attempt=1)
        decision = decide_unserved(claimed, now_ms=NOW_MS + 10)
        assert isinstance(decision, Postpone)
        return decision.delay_ms

    assert [waited_ms(claims) for claims in (1, 2, 3)] == [5_000, 10_000, 20_000]
    assert waited_ms(90) == 300_000


def test_a_task_whose_code_nobody_had_for_a_day_is_given_up() -> None:
    given_up = decide_unserved(TASK, now_ms=NOW_MS + DAY_MS + 1)

    assert given_up == GiveUp("no worker had its code for 24 h")
