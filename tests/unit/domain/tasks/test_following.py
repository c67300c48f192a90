"""Which edges are followed together."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.readiness import (
    EDGES_AT_FIRST,
    EDGES_AT_ONCE,
    EDGES_OF_A_CHUNK,
    Pace,
    SettledParent,
    take_batch,
    tokens_by_child,
)
from tests.builders import a_task


def parents(task_id: str, *children: str, state: TaskState = TaskState.COMPLETED) -> SettledParent:
    return SettledParent(a_task(task_id, state=state), children)


def batches_of(all_of_them: list[SettledParent], *, edges: int) -> list[list[SettledParent]]:
    waiting = deque(all_of_them)
    found = []
    while waiting:
        found.append(take_batch(waiting, edges=edges))
    return found


@given(st.lists(st.integers(0, 1_000), max_size=40), st.integers(1, EDGES_AT_ONCE))
def test_batches_keep_the_order_lose_nothing_and_are_only_as_large_as_they_must(
    widths: list[int], edges: int
) -> None:
    all_of_them = [parents(f"t{n}", *["c"] * width) for n, width in enumerate(widths)]
    found = batches_of(all_of_them, edges=edges)
    assert [one for batch in found for one in batch] == all_of_them
    for batch in found:
        assert batch
        assert sum(len(one.dependents) for one in batch[:-1]) < edges


def test_tasks_without_edges_are_not_all_one_batch() -> None:
    assert len(batches_of([parents(f"t{n}") for n in range(300)], edges=100)) == 3


def test_relays_that_are_followed_as_well_make_smaller_batches() -> None:
    relays = [parents(f"{ADDED_PREFIX}{n}", END) for n in range(EDGES_AT_ONCE)]
    assert len(batches_of(relays, edges=EDGES_AT_ONCE)) == EDGES_OF_A_CHUNK


@pytest.mark.parametrize(
    ("seconds", "edges"),
    [(0.0, EDGES_AT_ONCE), (0.1, EDGES_AT_ONCE), (1.0, 200), (4.0, 50), (1_000.0, 1)],
)
def test_the_next_batch_is_as_large_as_the_pace_of_the_last_allows(
    seconds: float, edges: int
) -> None:
    assert Pace().edges_at_once == EDGES_AT_FIRST
    last = [parents("a", *["c"] * 60), parents("b", *["c"] * 40)]
    assert Pace.of(last, seconds=seconds).edges_at_once == edges


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_for_the_end_every_settled_parent_counts_as_completed(state: TaskState) -> None:
    assert tokens_by_child([parents("a", END, state=state)]) == {END: {"a@1": True}}


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_a_child_gets_all_its_parents_at_once_and_which_completed(state: TaskState) -> None:
    found = [parents("a", "x", "y"), parents("b", "y", state=state)]
    completed = state is TaskState.COMPLETED
    assert tokens_by_child(found) == {"x": {"a@1": True}, "y": {"a@1": True, "b@1": completed}}
