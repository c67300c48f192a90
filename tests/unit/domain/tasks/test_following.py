"""Which edges are followed together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.following import (
    EDGES_AT_ONCE,
    EDGES_OF_A_CHUNK,
    Followed,
    lots,
    tokens_by_child,
)
from tests.builders import a_task


def followed(task_id: str, *children: str, state: TaskState = TaskState.COMPLETED) -> Followed:
    return Followed(a_task(task_id, state=state), children)


@given(st.lists(st.integers(0, 1_000), max_size=40))
def test_lots_keep_the_order_lose_nothing_and_are_only_as_large_as_they_must(
    widths: list[int],
) -> None:
    all_of_them = [followed(f"t{n}", *["c"] * width) for n, width in enumerate(widths)]
    found = list(lots(all_of_them))
    assert [one for lot in found for one in lot] == all_of_them
    for lot in found:
        assert lot
        assert sum(len(one.dependents) for one in lot[:-1]) < EDGES_AT_ONCE


def test_tasks_without_edges_are_not_all_one_lot() -> None:
    assert len(list(lots(followed(f"t{n}") for n in range(3 * EDGES_AT_ONCE)))) == 3


def test_relays_that_are_told_as_well_make_smaller_lots() -> None:
    relays = [followed(f"{ADDED_PREFIX}{n}", END) for n in range(EDGES_AT_ONCE)]
    assert len(list(lots(relays))) == EDGES_OF_A_CHUNK


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_the_end_is_told_of_nobody_who_did_not_complete(state: TaskState) -> None:
    assert tokens_by_child([followed("a", END, state=state)]) == {END: {"a@1": True}}


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_a_child_is_told_at_once_of_all_its_parents_and_who_completed(state: TaskState) -> None:
    found = [followed("a", "x", "y"), followed("b", "y", state=state)]
    completed = state is TaskState.COMPLETED
    assert tokens_by_child(found) == {"x": {"a@1": True}, "y": {"a@1": True, "b@1": completed}}
