"""A tenant's own tasks are ordered by class, and waiting raises a class: nothing starves."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.scheduling.aging import Aging

MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Waits:
    priority: str
    ready_from_ms: int


@pytest.mark.parametrize(
    ("priority", "minutes", "rank"),
    [
        ("high", 0, 1),
        ("high", 30, 1),
        ("normal", 0, 2),
        ("normal", 10, 1),
        ("low", 9, 3),
        ("low", 10, 2),
        ("low", 20, 1),
        ("of a newer version", 0, 2),
    ],
)
def test_waiting_raises_the_class(priority: str, minutes: int, rank: int) -> None:
    task = Waits(priority, ready_from_ms=0)

    assert Aging().rank(task, now_ms=minutes * MINUTE) == rank


def test_a_stage_may_let_tasks_age_faster() -> None:
    assert Aging(step_ms=MINUTE).rank(Waits("low", 0), now_ms=2 * MINUTE) == 1


def test_a_clock_behind_the_one_that_wrote_the_key_is_no_wait() -> None:
    assert Aging().rank(Waits("low", 5_000), now_ms=4_000) == 3


def test_of_equal_rank_the_oldest_is_first_and_what_may_not_start_yet_is_left_out() -> None:
    new, old, aged, later = (
        Waits("high", 11 * MINUTE),
        Waits("high", 10 * MINUTE),
        Waits("normal", 1 * MINUTE),
        Waits("high", 13 * MINUTE),
    )

    assert Aging().in_order([new, old, aged, later], now_ms=12 * MINUTE) == [aged, old, new]


def longest_wait_minutes(arrivals: int, *, seed: int) -> float:
    """Serve one task a second by looking at the head of each class, under a flood of high ones."""
    drawn = random.Random(seed)
    waiting: dict[str, list[Waits]] = {"high": [], "normal": [], "low": []}
    longest = 0
    for second in range(arrivals):
        priority = drawn.choices(["high", "normal", "low"], [0.98, 0.01, 0.01])[0]
        waiting[priority].append(Waits(priority, second * 1000))
        heads = [tasks[0] for tasks in waiting.values() if tasks]
        best = Aging().in_order(heads, now_ms=second * 1000)[0]
        waiting[best.priority].pop(0)
        longest = max(longest, second * 1000 - best.ready_from_ms)
    return longest / MINUTE


@settings(max_examples=5)
@given(st.integers(min_value=0, max_value=1_000))
def test_nothing_of_one_tenant_starves(seed: int) -> None:
    assert longest_wait_minutes(6_000, seed=seed) < 25
