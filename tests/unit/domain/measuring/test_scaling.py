"""Workers come with the backlog, quickly, and go when fewer have been enough for a while."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.measuring.scaling import (
    USUAL_SCALING,
    RecentNeed,
    ScalingDecision,
    ScalingPolicy,
    decide_workers,
)

NOW_S = 1_000.0
SLOTS = 3
POLICY = ScalingPolicy(min_workers=1)

policies = st.builds(
    lambda least, more, target: ScalingPolicy(
        min_workers=least, max_workers=least + more, target_per_worker=target
    ),
    st.integers(0, 5),
    st.integers(1, 8),
    st.integers(1, 30),
)


def decided(policy: ScalingPolicy = POLICY, **facts: Any) -> ScalingDecision:
    quiet: dict[str, Any] = {
        "waiting": 0,
        "in_flight": 0,
        "slots": SLOTS,
        "wanted_before": 1,
        "needed_lately": 0,
        "now_s": NOW_S,
        "last_out_s": None,
    }
    return decide_workers(policy, **(quiet | facts))


def ago(seconds: float) -> float:
    return NOW_S - seconds


@pytest.mark.parametrize(
    ("waiting", "workers"),
    [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2), (41, 3), (80, 4), (81, 5), (100_000, 5)],
)
def test_every_twenty_messages_need_a_worker_up_to_five(waiting: int, workers: int) -> None:
    assert USUAL_SCALING.workers_for(waiting=waiting, in_flight=0, slots=SLOTS) == workers


@pytest.mark.parametrize(
    ("in_flight", "slots", "workers"),
    [(1, 3, 1), (3, 3, 1), (4, 3, 2), (15, 3, 5), (16, 3, 5), (4, 1, 4), (30, 50, 2)],
)
def test_what_is_in_flight_needs_the_slots_that_it_occupies(
    in_flight: int, slots: int, workers: int
) -> None:
    assert USUAL_SCALING.workers_for(waiting=0, in_flight=in_flight, slots=slots) == workers


@pytest.mark.parametrize(
    ("facts", "wanted", "reason"),
    [
        ({}, 1, "0 waiting and 0 in flight need 1"),
        ({"wanted_before": 0}, 1, "0 waiting and 0 in flight need 1"),
        ({"waiting": 90}, 5, "90 waiting and 0 in flight need 5"),
        ({"waiting": 90, "last_out_s": ago(29)}, 1, "90 waiting and 0 in flight need 5, in 1 s"),
        ({"waiting": 90, "last_out_s": ago(30)}, 5, "90 waiting and 0 in flight need 5"),
        ({"wanted_before": 5}, 1, "0 waiting and 0 in flight need 1"),
        (
            {"wanted_before": 5, "needed_lately": 3},
            3,
            "0 waiting and 0 in flight need 1, 3 were needed within 300 s",
        ),
        (
            {"wanted_before": 2, "needed_lately": 5},
            2,
            "0 waiting and 0 in flight need 1, 2 were needed within 300 s",
        ),
        ({"wanted_before": 5, "in_flight": 12}, 4, "0 waiting and 12 in flight need 4"),
        ({"wanted_before": 9}, 1, "0 waiting and 0 in flight need 1"),
    ],
)
def test_each_row_of_the_policy(facts: dict[str, Any], wanted: int, reason: str) -> None:
    assert decided(**facts) == ScalingDecision(wanted, reason)


def test_the_first_worker_comes_at_once_whatever_was_before() -> None:
    asleep = {"wanted_before": 0, "last_out_s": ago(1)}
    assert decided(USUAL_SCALING, waiting=1, **asleep).wanted == 1
    assert decided(USUAL_SCALING, waiting=50, **asleep).wanted == 3


def test_the_least_number_is_wanted_while_it_is_too_soon_for_more() -> None:
    policy = ScalingPolicy(min_workers=2)
    assert decided(policy, waiting=90, wanted_before=1, last_out_s=ago(1)).wanted == 2


@given(
    policy=policies,
    waiting=st.integers(0, 300),
    in_flight=st.integers(0, 40),
    wanted_before=st.integers(0, 12),
    needed_lately=st.integers(0, 12),
    last_out_s=st.none() | st.floats(NOW_S - 200, NOW_S),
)
def test_the_number_stays_within_its_limits_and_above_what_is_in_flight(
    policy: ScalingPolicy, waiting: int, in_flight: int, wanted_before: int, **facts: Any
) -> None:
    decision = decided(
        policy, waiting=waiting, in_flight=in_flight, wanted_before=wanted_before, **facts
    )
    present = min(max(wanted_before, policy.min_workers), policy.max_workers)
    assert policy.min_workers <= decision.wanted <= policy.max_workers
    assert decision.wanted >= min(math.ceil(in_flight / SLOTS), present)
    if decision.wanted < present:
        assert decision.wanted >= min(facts["needed_lately"], present)


def test_the_greatest_need_is_remembered_for_as_long_as_said() -> None:
    recent = RecentNeed(60)
    assert [recent.add(need, now_s=at) for at, need in [(0, 2), (10, 5), (20, 1), (30, 3)]] == [
        2,
        5,
        5,
        5,
    ]
    assert recent.add(0, now_s=69) == 5
    assert recent.add(0, now_s=70) == 3
    assert recent.add(0, now_s=90) == 0


@given(
    seconds=st.integers(0, 20),
    needs=st.lists(st.tuples(st.integers(0, 10), st.integers(0, 6)), min_size=1),
)
def test_what_is_remembered_is_the_maximum_of_the_last_seconds(
    seconds: int, needs: list[tuple[int, int]]
) -> None:
    recent, seen, now_s = RecentNeed(seconds), list[tuple[int, int]](), 0
    for pause, need in needs:
        now_s += pause
        seen.append((now_s, need))
        lately = [n for at, n in seen[:-1] if now_s - at < seconds]
        assert recent.add(need, now_s=now_s) == max([need, *lately])


@pytest.mark.parametrize(
    "limits",
    [
        {"min_workers": 6},
        {"min_workers": -1},
        {"max_workers": 0},
        {"target_per_worker": 0},
    ],
)
def test_a_policy_that_could_never_work_cannot_be_made(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="worker"):
        ScalingPolicy(**limits)


def test_workers_stay_while_there_are_enough_tasks_for_each() -> None:
    """Up with more than twenty tasks for each worker, down with fewer than five."""
    policy = ScalingPolicy(max_workers=10, target_per_worker=20, kept_per_worker=5)
    for messages, present, wanted in [(21, 1, 2), (20, 2, 2), (10, 2, 2), (9, 2, 2), (5, 2, 1)]:
        decision = decide_workers(
            policy,
            waiting=messages,
            in_flight=0,
            slots=3,
            wanted_before=present,
            needed_lately=0,
            now_s=1_000,
            last_out_s=None,
        )
        assert decision.wanted == wanted


def test_a_worker_is_kept_for_no_more_than_its_share() -> None:
    with pytest.raises(ValueError, match="up to its share"):
        ScalingPolicy(target_per_worker=5, kept_per_worker=6)
