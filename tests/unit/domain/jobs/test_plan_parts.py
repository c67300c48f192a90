"""The parts of a plan, one after the other, are the plan."""

import pytest

from switchyard.domain.jobs.plan import JobPlan, items_in, part_of
from tests.builders import a_plan


def parts(plan: JobPlan, size: int) -> list[JobPlan]:
    return [part_of(plan, first=n, at_most=size) for n in range(0, items_in(plan), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12, 1000])
def test_the_parts_together_are_the_plan(size: int) -> None:
    plan = a_plan()
    split = parts(plan, size)
    assert [task for part in split for task in part.tasks] == list(plan.tasks)
    edges = [edge for part in split for edge in part.dependents.items()]
    assert edges == list(plan.dependents.items())
    payloads = [payload for part in split for payload in part.payloads.items()]
    assert payloads == list(plan.payloads.items())


@pytest.mark.parametrize("size", [1, 3, 7])
def test_every_part_but_the_last_is_full(size: int) -> None:
    *full, last = map(items_in, parts(a_plan(), size))
    assert set(full) == {size}
    assert 1 <= last <= size


def test_behind_the_last_item_there_is_nothing() -> None:
    plan = a_plan()
    assert items_in(part_of(plan, first=items_in(plan), at_most=5)) == 0
