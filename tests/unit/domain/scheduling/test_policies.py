"""A pool's groups are asked in the order of its policy."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.scheduling.policies import Turns
from switchyard.domain.scheduling.pools import Policy, Subscription


def between(low: float, high: float) -> float:
    return low


def turns(policy: Policy, **weights: int) -> Turns:
    return Turns(policy, [Subscription(group, weight) for group, weight in weights.items()])


def served(turns: Turns, count: int, *, empty: Sequence[str] = ()) -> list[str]:
    """Return whom a worker serves if all groups but the empty ones have work."""
    found = []
    for _ in range(count):
        order = turns.order(between)
        first = next(group for group in order if group not in empty)
        turns.served(first, empty=order[: order.index(first)])
        found.append(first)
    return found


def test_round_robin_asks_each_group_in_turn() -> None:
    assert served(turns(Policy.ROUND_ROBIN, a=1, b=5, c=1), 6) == ["a", "b", "c"] * 2


def test_round_robin_skips_a_group_without_work() -> None:
    assert served(turns(Policy.ROUND_ROBIN, a=1, b=1, c=1), 4, empty=["b"]) == ["a", "c"] * 2


def test_strict_serves_the_first_while_it_has_work_and_the_others_starve() -> None:
    strict = turns(Policy.STRICT, a=1, b=9)

    assert set(served(strict, 10_000)) == {"a"}
    assert served(strict, 2, empty=["a"]) == ["b", "b"]


def test_random_draws_by_weight() -> None:
    drawn = random.Random(7)
    some = turns(Policy.RANDOM, a=3, b=1)

    firsts = Counter(some.order(drawn.uniform)[0] for _ in range(4_000))

    assert firsts["a"] / 4_000 == pytest.approx(0.75, abs=0.03)


def test_random_asks_every_group_once() -> None:
    drawn = random.Random(7)

    assert sorted(turns(Policy.RANDOM, a=3, b=1, c=2).order(drawn.uniform)) == ["a", "b", "c"]


def test_weighted_serves_one_of_four_to_a_quarter() -> None:
    assert Counter(served(turns(Policy.WEIGHTED, a=3, b=1), 400)) == {"a": 300, "b": 100}


def deviations(order: Sequence[str], weights: Mapping[str, float]) -> tuple[float, float]:
    """Return how far groups were from their share at most: since the start, and in any window."""
    whole = sum(weights.values())
    worst_so_far, worst_in_window = 0.0, 0.0
    for group, weight in weights.items():
        ahead, highest, lowest = 0.0, 0.0, 0.0
        for one in order:
            ahead += (one == group) - weight / whole
            worst_so_far = max(worst_so_far, abs(ahead))
            worst_in_window = max(worst_in_window, ahead - lowest, highest - ahead)
            highest, lowest = max(highest, ahead), min(lowest, ahead)
    return worst_so_far, worst_in_window


WEIGHTS = st.integers(min_value=1, max_value=20)


@settings(max_examples=20)
@given(WEIGHTS, WEIGHTS)
def test_of_two_groups_each_is_within_one_task_of_its_share_in_any_window(a: int, b: int) -> None:
    weights = {"a": a, "b": b}

    _, in_window = deviations(served(turns(Policy.WEIGHTED, **weights), 1_000), weights)

    assert in_window <= 1 + 1e-6


@settings(max_examples=20)
@given(st.lists(WEIGHTS, min_size=3, max_size=8))
def test_of_many_groups_each_is_within_one_task_of_its_share_since_the_start(
    drawn: list[int],
) -> None:
    weights = {f"g{number}": weight for number, weight in enumerate(drawn)}

    so_far, in_window = deviations(served(turns(Policy.WEIGHTED, **weights), 1_000), weights)

    assert so_far < 1
    assert in_window < 2


@pytest.mark.long
@settings(max_examples=20)
@given(st.lists(WEIGHTS, min_size=2, max_size=8))
def test_ten_thousand_tasks_are_within_one_task_of_their_groups_share(drawn: list[int]) -> None:
    weights = {f"g{number}": weight for number, weight in enumerate(drawn)}

    assert deviations(served(turns(Policy.WEIGHTED, **weights), 10_000), weights)[0] < 1


def test_a_group_that_had_no_work_gets_no_burst_when_it_comes_back() -> None:
    weighted = turns(Policy.WEIGHTED, a=1, b=1)
    served(weighted, 101, empty=["b"])

    assert Counter(served(weighted, 10)) == {"a": 5, "b": 5}
