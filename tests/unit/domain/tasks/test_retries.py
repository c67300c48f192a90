"""A step is tried again inside its attempt only at no cost, and in time."""

from typing import Any

import pytest

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.retries import (
    GiveUp,
    Retry,
    StepFailure,
    TryAgain,
    decide_retry,
    decide_step_retry,
    why_not_retried,
)

PERMANENT = {
    FailureCategory.AUTH,
    FailureCategory.VALIDATION,
    FailureCategory.PARSE,
    FailureCategory.NOT_FOUND,
    FailureCategory.PROGRAMMING,
}


@pytest.mark.parametrize("category", FailureCategory)
def test_only_what_may_pass_is_tried_again(category: FailureCategory) -> None:
    decision = decide_retry(category, attempt=1, max_attempts=3)

    assert isinstance(decision, GiveUp if category in PERMANENT else Retry)


def test_the_last_attempt_is_not_followed_by_another() -> None:
    decision = decide_retry(FailureCategory.NETWORK, attempt=3, max_attempts=3)

    assert decision == GiveUp("failed on attempt 3 of 3")


def test_delays_double_up_to_a_limit() -> None:
    delays = [_longest_delay(FailureCategory.NETWORK, attempt) for attempt in range(1, 20)]

    assert delays[:3] == [2_000, 4_000, 8_000]
    assert delays[-1] == 300_000


def test_a_rate_limit_is_given_more_time() -> None:
    assert _longest_delay(FailureCategory.RATE_LIMIT, 1) == 20_000


def _longest_delay(category: FailureCategory, attempt: int) -> int:
    decision = decide_retry(category, attempt=attempt, max_attempts=100)
    assert isinstance(decision, Retry)
    return decision.longest_delay_ms


FREE = {FailureCategory.NETWORK, FailureCategory.RATE_LIMIT, FailureCategory.SERVER_ERROR}


def decided(*, time_left_ms: int = 60_000, **facts: Any) -> TryAgain | GiveUp:
    known: dict[str, Any] = {"category": FailureCategory.NETWORK, "paid": False, "tries": 1}
    return decide_step_retry(StepFailure(**known | facts), time_left_ms=time_left_ms)


@pytest.mark.parametrize("category", FailureCategory)
def test_only_what_costs_nothing_and_passes_soon_is_tried_again(category: FailureCategory) -> None:
    assert isinstance(decided(category=category), TryAgain if category in FREE else GiveUp)


def test_what_was_paid_for_is_not_tried_again() -> None:
    assert decided(paid=True) == GiveUp("another try would be paid for")


def test_three_tries_are_all() -> None:
    assert isinstance(decided(tries=2), TryAgain)
    assert decided(tries=3) == GiveUp("failed 3 times in a row")


def test_the_range_of_the_delay_doubles() -> None:
    assert [decided(tries=1), decided(tries=2)] == [TryAgain(0, 1_000), TryAgain(0, 2_000)]


def test_nobody_comes_back_sooner_than_they_were_asked_to() -> None:
    assert decided(retry_after_ms=7_000) == TryAgain(7_000, 8_000)


def test_a_delay_longer_than_the_time_left_is_not_waited_for() -> None:
    assert isinstance(decided(time_left_ms=1_000), GiveUp)
    assert isinstance(decided(retry_after_ms=60_000), GiveUp)
    assert isinstance(decided(time_left_ms=1_001), TryAgain)


@pytest.mark.parametrize(
    ("category", "attempt", "why"),
    [
        ("validation", 1, "validation is permanent: another attempt would fail in the same way"),
        ("network", 3, "it failed on attempt 3 of 3"),
        ("timeout", 1, "its time was over, which all of its attempts share"),
        ("network", 1, None),
        ("not_decided", 0, None),
    ],
)
def test_why_no_attempt_followed(category: str, attempt: int, why: str | None) -> None:
    assert why_not_retried(category, attempt=attempt, max_attempts=3) == why
