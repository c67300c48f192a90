import pytest

from switchyard.domain.health.clock_offset import MOST_MS, ClockOffset, problem_with


@pytest.mark.parametrize("ahead_ms", [0, MOST_MS, -MOST_MS, MOST_MS + 1_000, -MOST_MS - 1_000])
def test_a_clock_that_may_be_within_the_bound_is_corrected_for(ahead_ms: int) -> None:
    assert problem_with(ClockOffset(ahead_ms, error_ms=1_000)) is None


def test_a_clock_beyond_the_bound_is_named_with_its_cure() -> None:
    assert problem_with(ClockOffset(ahead_ms=-312_400, error_ms=1_050)) == (
        "This machine's clock is 312 s behind AWS's time (within 1.1 s); AWS refuses requests that "
        "are off by more than 300 s. Synchronise the clock with the Amazon Time Sync Service or "
        "another NTP server and start the worker again."
    )


@pytest.mark.parametrize(("ahead_ms", "noticeable"), [(5_900, False), (-6_100, True)])
def test_only_a_difference_beyond_doubt_is_noticeable(ahead_ms: int, noticeable: bool) -> None:
    assert ClockOffset(ahead_ms, error_ms=1_000).noticeable is noticeable
