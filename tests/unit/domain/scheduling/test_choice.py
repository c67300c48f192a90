"""Workers that look at the same moment try different tasks, and none of a lower rank first."""

import random
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.scheduling.choice import (
    Choosing,
    Heads,
    Why,
    candidates,
    shuffled_within,
)


@dataclass(frozen=True, slots=True)
class Waits:
    name: str
    priority: str = "normal"
    ready_from_ms: int = 0


def chosen(
    tasks: list[Waits], *, slots: int, seed: int = 1, named: Waits | None = None
) -> list[str]:
    drawn = random.Random(seed)
    heads = Heads(group="default", clock=2.5, tasks=tasks)
    found = candidates(
        heads,
        Choosing(policy="round-robin", slots=slots),
        now_ms=10_000,
        between=drawn.uniform,
        named=named,
    )
    return [candidate.task.name for candidate in found]


@settings(max_examples=50)
@given(
    st.lists(st.integers(), max_size=40),
    st.integers(min_value=0, max_value=50),
    st.integers(min_value=0, max_value=1_000),
)
def test_only_the_first_are_shuffled_and_nothing_is_lost(
    things: list[int], window: int, seed: int
) -> None:
    drawn = random.Random(seed)

    shuffled = shuffled_within(things, window, drawn.uniform)

    assert sorted(shuffled[:window]) == sorted(things[:window])
    assert shuffled[window:] == things[window:]


def test_one_slot_takes_the_oldest() -> None:
    tasks = [Waits(f"t{number}", ready_from_ms=100 - number) for number in range(20)]

    assert chosen(tasks, slots=1) == [f"t{number}" for number in reversed(range(20))]


def test_many_slots_begin_with_different_tasks() -> None:
    tasks = [Waits(f"t{number:02}", ready_from_ms=number) for number in range(40)]

    firsts = {chosen(tasks, slots=20, seed=seed)[0] for seed in range(200)}

    assert firsts == {f"t{number:02}" for number in range(20)}


def test_the_task_that_the_token_names_is_first_among_those_that_may_be() -> None:
    tasks = [Waits(f"t{number:02}", ready_from_ms=number) for number in range(40)]

    assert chosen(tasks, slots=20, named=tasks[13])[0] == "t13"
    assert chosen(tasks, slots=20, named=tasks[35])[35] == "t35"


def test_the_task_that_the_token_names_is_not_before_one_of_a_higher_class() -> None:
    tasks = [Waits("low", "low"), Waits("high", "high")]

    assert chosen(tasks, slots=20, named=tasks[0]) == ["high", "low"]


def test_a_lower_class_is_never_tried_before_a_higher_one() -> None:
    tasks = [Waits("low", "low"), Waits("high", "high"), Waits("normal", "normal")]

    for seed in range(20):
        assert chosen(tasks, slots=50, seed=seed) == ["high", "normal", "low"]


def test_a_candidate_says_why_it_is_next() -> None:
    heads = Heads(group="default", clock=2.5, tasks=[Waits("t", ready_from_ms=4_000)])

    found = candidates(
        heads,
        Choosing(policy="strict"),
        now_ms=10_000,
        between=lambda low, _high: low,
    )

    assert found[0].why == Why(group="default", clock=2.5, rank=2, policy="strict", waited_ms=6_000)
