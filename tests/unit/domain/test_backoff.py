"""One rule for pauses that grow."""

import pytest

from switchyard.domain.backoff import Backoff


def test_each_pause_is_twice_the_one_before_up_to_the_longest() -> None:
    backoff = Backoff(first=1_000, longest=5_000)
    assert list(backoff.pauses(5)) == [1_000, 2_000, 4_000, 5_000, 5_000]
    assert all(isinstance(pause, int) for pause in backoff.pauses(5))


def test_the_factor_may_be_another() -> None:
    backoff = Backoff(first=0.5, longest=2.0, factor=1.3)
    assert list(backoff.pauses(3)) == pytest.approx([0.5, 0.65, 0.845])


@pytest.mark.parametrize("factor", [1.1, 2])
def test_a_pause_after_a_million_failures_is_the_longest(factor: float) -> None:
    assert Backoff(first=0.05, longest=2.0, factor=factor).at_most(1_000_000) == 2.0


def test_the_longest_is_never_exceeded_not_even_by_the_first() -> None:
    assert Backoff(first=0.5, longest=0.0).at_most(0) == 0.0


def test_with_jitter_a_pause_is_drawn_from_its_whole_range() -> None:
    backoff = Backoff(first=1.0, longest=60.0)
    drawn = backoff.with_jitter(3, lambda low, high: low + high / 2)
    assert drawn == 4.0
