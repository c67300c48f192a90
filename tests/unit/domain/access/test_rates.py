"""Whatever comes, a key gets no more than its limits, and no less."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.access.limits import Admitted, DayUsedUp, RequestLimits, TooFast, Use, judge
from tests.builders import NOW_MS

TODAY, TOMORROW = "2027-01-15", "2027-01-16"
MIDNIGHT_MS = 1_800_057_600_000

limits = st.builds(
    RequestLimits,
    per_second=st.integers(1, 2_000),
    burst=st.integers(1, 20),
    per_day=st.integers(1, 60),
)
requests = st.lists(st.integers(0, 400), max_size=80)
"""Milliseconds between each and the one before."""
skews = st.just(0) | st.integers(300_000, 600_000)


def admitted_at(pauses: list[int], limits: RequestLimits, *, start_ms: int = NOW_MS) -> list[int]:
    use: Use | None = None
    now_ms, times = start_ms, []
    for pause in pauses:
        now_ms += pause
        verdict = judge(use, now_ms=now_ms, limits=limits)
        if isinstance(verdict, Admitted):
            use = verdict.use
            times.append(now_ms)
    return times


@given(pauses=requests, limits=limits)
def test_in_no_time_are_more_admitted_than_the_burst_and_the_rate_allow(
    pauses: list[int], limits: RequestLimits
) -> None:
    unlimited_day = replace(limits, per_day=1_000)
    times = admitted_at(pauses, unlimited_day)
    for first, start in enumerate(times):
        for last, end in enumerate(times[first:], first):
            allowed = limits.burst + limits.per_second * (end - start) / 1000
            assert last - first + 1 <= allowed


@given(pauses=requests, limits=limits)
def test_on_no_day_are_more_admitted_than_it_has(pauses: list[int], limits: RequestLimits) -> None:
    times = admitted_at(pauses, limits, start_ms=MIDNIGHT_MS - 10_000)
    assert sum(time < MIDNIGHT_MS for time in times) <= limits.per_day
    assert sum(time >= MIDNIGHT_MS for time in times) <= limits.per_day


@given(limits=limits, ahead_us=st.integers(0, 60_000_000), requests=st.integers(0, 80))
def test_a_key_that_waits_as_long_as_asked_is_admitted(
    limits: RequestLimits, ahead_us: int, requests: int
) -> None:
    use = Use(free_at_us=NOW_MS * 1000 + ahead_us, day=TODAY, requests=requests)
    verdict = judge(use, now_ms=NOW_MS, limits=limits)
    match verdict:
        case TooFast(wait_us):
            later = NOW_MS - (-wait_us // 1000)
        case DayUsedUp(resets_at_ms):
            later = resets_at_ms
        case Admitted():
            later = NOW_MS
    assert isinstance(judge(use, now_ms=later, limits=limits), Admitted)


@given(
    limits=limits,
    requests=st.lists(st.tuples(st.integers(0, 400), skews), max_size=80),
)
def test_each_request_that_a_clock_admits_which_is_ahead_brings_at_most_one_more(
    limits: RequestLimits, requests: list[tuple[int, int]]
) -> None:
    """Each request with its pause, and how far the clock is ahead that judges it."""
    unlimited_day = replace(limits, per_day=1_000)
    use, now_ms, honest, ahead = None, NOW_MS, 0, 0
    for pause, skew in requests:
        now_ms += pause
        verdict = judge(use, now_ms=now_ms + skew, limits=unlimited_day)
        if isinstance(verdict, Admitted):
            use = verdict.use
            honest, ahead = honest + (not skew), ahead + bool(skew)
    elapsed = (now_ms - NOW_MS) / 1000
    assert honest <= limits.burst + limits.per_second * elapsed + ahead


@given(limits=limits, skew_ms=st.integers(0, 600_000))
def test_a_clock_that_was_ahead_keeps_nobody_out_for_long(
    limits: RequestLimits, skew_ms: int
) -> None:
    ahead = judge(None, now_ms=NOW_MS + skew_ms, limits=replace(limits, per_day=1_000))
    assert isinstance(ahead, Admitted)
    verdict = judge(ahead.use, now_ms=NOW_MS, limits=replace(limits, per_day=1_000))
    if isinstance(verdict, TooFast):
        assert verdict.wait_us <= 1_000_000 + limits.step_us


@given(limits=limits)
def test_evenly_spaced_requests_are_all_admitted(limits: RequestLimits) -> None:
    pause = -(-1000 // limits.per_second)
    assert len(admitted_at([pause] * limits.per_day, limits)) == limits.per_day


def test_an_idle_key_may_make_its_whole_burst_at_once() -> None:
    assert len(admitted_at([0] * 60, RequestLimits())) == 50


def test_the_specified_limits_are_the_defaults() -> None:
    assert RequestLimits() == RequestLimits(per_second=100, burst=50, per_day=10_000)


def test_a_day_that_is_used_up_says_when_it_ends_and_the_next_begins_anew() -> None:
    used_up = Use(free_at_us=0, day=TODAY, requests=10_000)
    assert judge(used_up, now_ms=NOW_MS, limits=RequestLimits()) == DayUsedUp(MIDNIGHT_MS)
    verdict = judge(used_up, now_ms=MIDNIGHT_MS, limits=RequestLimits())
    assert isinstance(verdict, Admitted)
    assert (verdict.use.day, verdict.use.requests) == (TOMORROW, 1)


def test_a_day_that_another_clock_has_begun_has_begun() -> None:
    begun = Use(free_at_us=0, day=TOMORROW, requests=7)
    verdict = judge(begun, now_ms=NOW_MS, limits=RequestLimits())
    assert isinstance(verdict, Admitted)
    assert (verdict.use.day, verdict.use.requests) == (TOMORROW, 8)
