"""A step is tried again inside its attempt only at no cost, and in time."""

from typing import Any

import pytest

from switchyard.domain.tasks.failures import FailureCategory, GiveUp
from switchyard.domain.tasks.step_retries import StepFailure, TryAgain, decide_step_retry

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
