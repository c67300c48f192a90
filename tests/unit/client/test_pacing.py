"""Waiting long takes few requests: a key has 10,000 a day."""

import pytest

from switchyard.client.pacing import LONGEST_SECONDS, Pacing
from switchyard.domain.backoff import Backoff
from switchyard.testing import ManualClock

DAY_SECONDS = 24 * 60 * 60


def pacing(clock: ManualClock) -> Pacing:
    return Pacing(clock, Backoff(first=0.33, longest=1.0, factor=1.1))


@pytest.mark.parametrize("news", [True, False])
def test_a_day_of_waiting_takes_less_than_half_of_a_days_requests(news: bool) -> None:
    clock = ManualClock(0)
    waiting, looks = pacing(clock), 0
    while clock.monotonic() < DAY_SECONDS:
        waiting.rest(news=news)
        looks += 1
    assert looks < 5_000


def test_at_first_one_looks_often_and_oftener_when_something_happens() -> None:
    clock = ManualClock(0)
    waiting = pacing(clock)
    waiting.rest(news=False)
    waiting.rest(news=False)
    slower = clock.monotonic()
    waiting.rest(news=True)
    assert slower > 2 * 0.33
    assert clock.monotonic() - slower == pytest.approx(0.33)


def test_nobody_waits_longer_than_half_a_minute_for_what_is_there() -> None:
    clock = ManualClock(0)
    waiting = pacing(clock)
    clock.advance(DAY_SECONDS)
    waiting.rest(news=True)
    assert clock.monotonic() - DAY_SECONDS == LONGEST_SECONDS


def test_large_answers_are_asked_for_less_often() -> None:
    clock = ManualClock(0)
    pacing(clock).rest(news=True, at_least=10)
    assert clock.monotonic() == 10
