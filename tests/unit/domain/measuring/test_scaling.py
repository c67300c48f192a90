"""Workers come with the backlog, quickly, and go when it is gone, slowly."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.measuring.scaling import (
    USUAL_SCALING,
    ScalingDecision,
    ScalingPolicy,
    decide_workers,
)

NOW_S = 1_000.0
POLICY = ScalingPolicy(min_workers=1)

policies = st.builds(
    lambda least, more, target: ScalingPolicy(
        min_workers=least, max_workers=least + more, target_per_worker=target
    ),
    st.integers(0, 5),
    st.integers(1, 8),
    st.integers(1, 30),
)
times = st.none() | st.floats(NOW_S - 200, NOW_S)


def decided(policy: ScalingPolicy = POLICY, **facts: Any) -> ScalingDecision:
    quiet: dict[str, Any] = {
        "backlog": 0,
        "busy": 0,
        "running": 1,
        "now_s": NOW_S,
        "last_out_s": None,
        "last_in_s": None,
    }
    return decide_workers(policy, **(quiet | facts))


def ago(seconds: float) -> float:
    return NOW_S - seconds


@pytest.mark.parametrize(
    ("backlog", "workers"),
    [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2), (41, 3), (80, 4), (81, 5), (100_000, 5)],
)
def test_every_twenty_messages_call_for_a_worker_up_to_five(backlog: int, workers: int) -> None:
    assert USUAL_SCALING.capacity_for(backlog) == workers


@pytest.mark.parametrize(
    ("facts", "wanted", "reason"),
    [
        ({}, 1, "a backlog of 0 calls for 1"),
        ({"running": 0}, 1, "a backlog of 0 calls for 1"),
        ({"backlog": 90}, 5, "a backlog of 90 calls for 5"),
        ({"backlog": 90, "last_out_s": ago(29)}, 1, "a backlog of 90 calls for 5 in 1 s"),
        ({"backlog": 90, "last_out_s": ago(30)}, 5, "a backlog of 90 calls for 5"),
        ({"backlog": 90, "last_in_s": ago(1)}, 5, "a backlog of 90 calls for 5"),
        ({"running": 5}, 1, "a backlog of 0 calls for 1"),
        ({"running": 5, "last_in_s": ago(10)}, 5, "a backlog of 0 calls for 1 in 50 s"),
        ({"running": 5, "last_out_s": ago(59)}, 5, "a backlog of 0 calls for 1 in 1 s"),
        (
            {"running": 5, "last_in_s": ago(60), "last_out_s": ago(60)},
            1,
            "a backlog of 0 calls for 1",
        ),
        (
            {"running": 5, "backlog": 12, "busy": 4},
            4,
            "a backlog of 12 calls for 1, what is in flight for 4",
        ),
        (
            {"running": 4, "backlog": 12, "busy": 4},
            4,
            "a backlog of 12 calls for 1, what is in flight for 4",
        ),
        ({"running": 9}, 1, "a backlog of 0 calls for 1"),
        ({"running": 9, "last_in_s": ago(1)}, 5, "a backlog of 0 calls for 1 in 59 s"),
    ],
)
def test_each_row_of_the_policy(facts: dict[str, Any], wanted: int, reason: str) -> None:
    assert decided(**facts) == ScalingDecision(wanted, reason)


def test_the_first_worker_comes_at_once_whatever_was_before() -> None:
    asleep = {"running": 0, "last_out_s": ago(1), "last_in_s": ago(1)}
    assert decided(USUAL_SCALING, backlog=1, **asleep).wanted == 1
    assert decided(USUAL_SCALING, backlog=50, **asleep).wanted == 3


def test_the_least_number_is_kept_while_it_is_too_soon_for_more() -> None:
    policy = ScalingPolicy(min_workers=2)
    assert decided(policy, backlog=90, running=1, last_out_s=ago(1)).wanted == 2


@given(
    policy=policies,
    backlog=st.integers(0, 300),
    busy=st.integers(0, 12),
    running=st.integers(0, 12),
    last_out_s=times,
    last_in_s=times,
)
def test_whatever_happens_the_number_stays_within_its_limits_and_between_two_reasons(
    policy: ScalingPolicy, backlog: int, busy: int, running: int, **lasts: float | None
) -> None:
    wanted = decided(policy, backlog=backlog, busy=busy, running=running, **lasts).wanted
    called_for = policy.capacity_for(backlog)
    present = min(max(running, policy.min_workers), policy.max_workers)
    assert policy.min_workers <= wanted <= policy.max_workers
    assert min(present, called_for) <= wanted <= max(present, called_for)
    assert wanted >= min(busy, present)


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
