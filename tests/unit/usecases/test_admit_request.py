"""A request is let in, or told when the next one is welcome."""

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.request_rates import MemoryRequestRates
from switchyard.domain.api_keys import Caller
from switchyard.domain.errors import TooManyRequests, Unavailable
from switchyard.domain.rates import Limits, Verdict
from switchyard.usecases.admit_request import Gate
from tests.builders import NOW_MS, TENANT

CALLER = Caller(TENANT, "0123456789ab")


def a_gate(**limits: int) -> Gate:
    return Gate(rates=MemoryRequestRates(), limits=Limits(**limits), clock=ManualClock(NOW_MS))


def test_who_is_too_fast_is_told_to_wait_whole_seconds() -> None:
    gate = a_gate(per_second=2, burst=2)
    for _ in range(2):
        assert gate.admit(CALLER) is None
    with pytest.raises(TooManyRequests, match="2 requests a second, and 2 at once") as refused:
        gate.admit(CALLER)
    assert refused.value.retry_after_seconds == 1


def test_who_has_used_up_the_day_is_told_when_the_next_begins() -> None:
    gate = a_gate(per_day=1)
    gate.admit(CALLER)
    with pytest.raises(TooManyRequests, match="begins at 2027-01-16T00:00:00Z") as refused:
        gate.admit(CALLER)
    assert refused.value.retry_after_seconds == 16 * 3600


class Broken:
    def take(self, caller: Caller, *, limits: Limits, now_ms: int) -> Verdict:
        raise Unavailable("throttled")


def test_what_cannot_be_counted_is_let_in_and_the_reason_told() -> None:
    gate = Gate(rates=Broken(), limits=Limits(), clock=ManualClock(NOW_MS))
    assert gate.admit(CALLER) == "throttled"
