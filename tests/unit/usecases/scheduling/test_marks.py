"""Tenants are marked before their tasks are in the index, and not more often than needed."""

from switchyard.domain.states import TaskKind
from switchyard.ports import GroupClocks
from switchyard.testing import ManualClock
from switchyard.testing.scheduling import MemoryTenantClocks
from switchyard.usecases.scheduling.marks import MOST_READY_A_SECOND, Marks, ReadyPace, places_of
from tests.builders import NOW_MS, TENANT, a_task


class CountedClocks(MemoryTenantClocks):
    marks = 0

    def mark(self, group: str, tenant: str, *, now_ms: int) -> None:
        self.marks += 1
        super().mark(group, tenant, now_ms=now_ms)


def marked(group: GroupClocks) -> list[str]:
    return [one.tenant for one in group.tenants if one.marked_at_ms is not None]


def test_the_mark_is_there_when_the_key_is_written() -> None:
    clocks = CountedClocks()

    with Marks(clocks, ManualClock(NOW_MS)).around(places_of([a_task()])):
        assert marked(clocks.of_group("default")) == [TENANT]


def test_a_process_marks_a_tenant_once_a_minute() -> None:
    clocks, clock = CountedClocks(), ManualClock(NOW_MS)
    marks = Marks(clocks, clock)
    for seconds in (0, 59, 1):
        clock.advance(seconds)
        with marks.around({("default", TENANT)}):
            pass

    assert clocks.marks == 2


def test_a_key_that_was_answered_late_is_marked_again() -> None:
    clocks, clock = CountedClocks(), ManualClock(NOW_MS)

    with Marks(clocks, clock).around({("default", TENANT)}):
        clock.advance(61)

    assert clocks.marks == 2


def test_tasks_that_no_worker_runs_have_no_place_in_the_index() -> None:
    held = a_task("ask", kind=TaskKind.APPROVAL)

    assert places_of([held, a_task("__end__")]) == set()
    assert places_of([a_task(queue="research/deep")]) == {("research", TENANT)}


def test_no_more_tasks_become_ready_in_a_second_than_a_partition_takes() -> None:
    clock = ManualClock(NOW_MS)
    pace, began = ReadyPace(clock), clock.monotonic()
    for _ in range(30):
        pace.wait([a_task(f"t{number}") for number in range(100)])

    seconds = clock.monotonic() - began
    assert 3_000 / MOST_READY_A_SECOND - 1.01 <= seconds <= 3_000 / MOST_READY_A_SECOND


def test_a_few_tasks_do_not_wait() -> None:
    clock = ManualClock(NOW_MS)
    began = clock.monotonic()

    ReadyPace(clock).wait([a_task()])

    assert clock.monotonic() == began
