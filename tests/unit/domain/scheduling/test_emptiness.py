"""A worker leaves after two reads in a row that found no work."""

import pytest

from switchyard.domain.scheduling.emptiness import EmptyReads, WorkFound, leaves_when_empty
from switchyard.domain.scheduling.pools import WhenEmpty

NOTHING = WorkFound(waiting=0, delayed=0, running=0)


def test_two_empty_reads_in_a_row_are_enough() -> None:
    reads = EmptyReads()
    assert [reads.add(NOTHING) for _ in range(2)] == [False, True]


@pytest.mark.parametrize(
    "found",
    [
        WorkFound(waiting=1, delayed=0, running=0),
        WorkFound(waiting=0, delayed=1, running=0),
        WorkFound(waiting=0, delayed=0, running=1),
    ],
)
def test_whatever_is_found_in_between_begins_anew(found: WorkFound) -> None:
    reads = EmptyReads()
    assert [reads.add(one) for one in (NOTHING, found, NOTHING)] == [False, False, False]


def test_only_who_is_not_replaced_leaves_to_hibernate() -> None:
    assert not leaves_when_empty(WhenEmpty.POLL, replaced_by_service=False)
    assert leaves_when_empty(WhenEmpty.HIBERNATE, replaced_by_service=False)
    assert not leaves_when_empty(WhenEmpty.HIBERNATE, replaced_by_service=True)
    assert leaves_when_empty(WhenEmpty.TERMINATE, replaced_by_service=True)
