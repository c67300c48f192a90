"""A request is admitted, or refused with the time of the next one."""

import pytest

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import Admission, DayUsedUp, RequestLimits, TooFast
from switchyard.domain.errors import TooManyRequests, Unavailable
from switchyard.testing import ManualClock
from switchyard.testing.limits import MemoryRequestRates
from switchyard.usecases.access.limits import MAX_REMEMBERED, Gate
from tests.builders import NOW_MS, TENANT

CALLER = Caller(TENANT, "0123456789ab")


def a_gate(**limits: int) -> Gate:
    return Gate(
        rates=MemoryRequestRates(), limits=RequestLimits(**limits), clock=ManualClock(NOW_MS)
    )


def test_a_key_that_is_too_fast_has_to_wait_whole_seconds() -> None:
    gate = a_gate(per_second=2, burst=2)
    for _ in range(2):
        assert gate.admit(CALLER) is None
    with pytest.raises(TooManyRequests, match="2 requests a second, and 2 at once") as refused:
        gate.admit(CALLER)
    assert refused.value.retry_after_seconds == 1


def test_a_key_that_has_used_up_the_day_gets_the_start_of_the_next() -> None:
    gate = a_gate(per_day=1)
    gate.admit(CALLER)
    with pytest.raises(TooManyRequests, match="begins at 2027-01-16T00:00:00Z") as refused:
        gate.admit(CALLER)
    assert refused.value.retry_after_seconds == 16 * 3600


class Counted:
    """Refuses everything for so long."""

    def __init__(self, verdict: Admission) -> None:
        self.verdict = verdict
        self.asked = 0

    def take(self, caller: Caller, *, limits: RequestLimits, now_ms: int) -> Admission:
        self.asked += 1
        return self.verdict


def refused(gate: Gate, caller: Caller = CALLER) -> int:
    with pytest.raises(TooManyRequests) as refusal:
        gate.admit(caller)
    return refusal.value.retry_after_seconds


def test_a_key_that_has_to_wait_is_not_counted_until_then() -> None:
    rates, clock = Counted(TooFast(2_500_000)), ManualClock(NOW_MS)
    gate = Gate(rates=rates, limits=RequestLimits(), clock=clock)
    assert [refused(gate) for _ in range(5)] == [3] * 5
    clock.advance(2)
    assert (refused(gate), rates.asked) == (1, 1)
    assert (refused(gate, Caller(TENANT, "ffffffffffff")), rates.asked) == (3, 2)
    clock.advance(1)
    assert (refused(gate), rates.asked) == (3, 3)


def test_who_has_used_up_the_day_is_not_counted_before_the_next() -> None:
    rates, clock = Counted(DayUsedUp(NOW_MS + 60_000)), ManualClock(NOW_MS)
    gate = Gate(rates=rates, limits=RequestLimits(), clock=clock)
    assert [refused(gate), refused(gate)] == [60, 60]
    clock.advance(59)
    assert (refused(gate), rates.asked) == (1, 1)
    clock.advance(1)
    refused(gate)
    assert rates.asked == 2


def test_no_more_keys_are_remembered_than_there_is_room_for() -> None:
    rates = Counted(TooFast(1_000_000))
    gate = Gate(rates=rates, limits=RequestLimits(), clock=ManualClock(NOW_MS))
    for number in range(MAX_REMEMBERED + 1):
        refused(gate, Caller(TENANT, f"{number:012}"))
    assert len(gate.waits) == MAX_REMEMBERED
    refused(gate, Caller(TENANT, f"{MAX_REMEMBERED:012}"))
    assert rates.asked == MAX_REMEMBERED + 1


class Broken:
    def take(self, caller: Caller, *, limits: RequestLimits, now_ms: int) -> Admission:
        raise Unavailable("out of order")


def test_a_request_that_cannot_be_counted_is_admitted_and_the_reason_logged() -> None:
    gate = Gate(rates=Broken(), limits=RequestLimits(), clock=ManualClock(NOW_MS))
    assert gate.admit(CALLER) == "out of order"
