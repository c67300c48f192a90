"""A task that keeps failing moves to a stronger tier."""

import pytest

from switchyard.domain.scheduling.escalation import (
    Escalation,
    group_of_tier,
    problem_with_tier,
    queue_after_failure,
)
from tests.builders import a_task

AFTER_ONE = Escalation(1, "architects")


@pytest.mark.parametrize(
    ("attempt", "queue", "escalation", "moves_to"),
    [
        (1, "drones", AFTER_ONE, "architects"),
        (2, "drones/nightly", AFTER_ONE, "architects"),
        (1, None, AFTER_ONE, "architects"),
        (1, "drones", Escalation(2, "architects"), None),
        (2, "architects", AFTER_ONE, None),
        (3, "drones", None, None),
    ],
)
def test_it_moves_after_so_many_failed_attempts(
    attempt: int, queue: str | None, escalation: Escalation | None, moves_to: str | None
) -> None:
    assert queue_after_failure(a_task(attempt=attempt, queue=queue), escalation) == moves_to


def test_a_tier_is_the_group_of_its_name() -> None:
    assert group_of_tier("drones") == "drones"
    assert problem_with_tier("kings") == (
        "there is no tier 'kings'; the tiers are drones, coordinators, architects"
    )
    with pytest.raises(ValueError, match="the tiers are drones"):
        group_of_tier("kings")


@pytest.mark.parametrize(("after", "to"), [(0, "drones"), (11, "drones"), (1, "kings")])
def test_what_cannot_be_is_refused(after: int, to: str) -> None:
    with pytest.raises(ValueError, match=r"lies between|the tiers are"):
        Escalation(after, to)
