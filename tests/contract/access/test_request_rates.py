"""The contract of `RequestRates`."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from switchyard.adapters.dynamodb.access.limits import DynamoDbRequestRates
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import Admission, Admitted, DayUsedUp, RequestLimits, TooFast
from switchyard.ports import RequestRates
from switchyard.testing.limits import MemoryRequestRates
from tests.builders import NOW_MS, TENANT
from tests.contract.clouds import Cloud
from tests.contract.conftest import Backend
from tests.fakes.tables import state_table

CALLER = Caller(TENANT, "0123456789ab")
LIMITS = RequestLimits(per_second=100, burst=5, per_day=40)
MIDNIGHT_MS = 1_800_057_600_000  # the one after NOW_MS
THREADS, EACH = 8, 15

Take = Callable[..., Admission]


@pytest.fixture
def take(backend: Backend) -> Take:
    def take(at: int = 0, caller: Caller = CALLER) -> Admission:
        return backend.rates.take(caller, limits=LIMITS, now_ms=NOW_MS + at)

    return take


def admitted(verdicts: list[Admission]) -> int:
    return sum(isinstance(verdict, Admitted) for verdict in verdicts)


def test_a_burst_is_admitted_and_then_one_a_step(take: Take) -> None:
    assert admitted([take() for _ in range(7)]) == 5
    assert take() == TooFast(10_000)
    assert take(9) == TooFast(1_000)
    assert isinstance(take(10), Admitted)
    assert take(10) == TooFast(10_000)


def test_an_idle_key_has_its_burst_again_and_no_more(take: Take) -> None:
    assert admitted([take() for _ in range(7)]) == 5
    assert admitted([take(60_000) for _ in range(7)]) == 5


def test_a_days_requests_are_used_up_until_midnight(take: Take) -> None:
    verdicts = [take(1_000 * number) for number in range(42)]
    assert admitted(verdicts) == 40
    assert verdicts[-1] == DayUsedUp(MIDNIGHT_MS)
    assert take(MIDNIGHT_MS - 1 - NOW_MS) == DayUsedUp(MIDNIGHT_MS)
    tomorrow = take(MIDNIGHT_MS - NOW_MS)
    assert isinstance(tomorrow, Admitted)
    assert (tomorrow.use.day, tomorrow.use.requests) == ("2027-01-16", 1)


def test_midnight_brings_no_second_burst(take: Take) -> None:
    before, after = MIDNIGHT_MS - 1 - NOW_MS, MIDNIGHT_MS - NOW_MS
    assert admitted([take(before) for _ in range(6)]) == 5
    assert admitted([take(after) for _ in range(6)]) == 0
    assert admitted([take(after + 10) for _ in range(6)]) == 1


def test_a_clock_that_is_behind_at_midnight_counts_into_the_new_day(take: Take) -> None:
    assert isinstance(take(MIDNIGHT_MS - NOW_MS), Admitted)
    late = take(MIDNIGHT_MS - NOW_MS - 3)
    assert isinstance(late, Admitted)
    assert (late.use.day, late.use.requests) == ("2027-01-16", 2)


def test_a_clock_that_was_ahead_has_used_up_the_burst_and_no_more(take: Take) -> None:
    assert isinstance(take(300_000), Admitted)
    corrected = take()
    assert isinstance(corrected, Admitted)
    assert corrected.use.free_at_us == NOW_MS * 1000 + LIMITS.burst * LIMITS.step_us
    assert corrected.use.requests == 2
    assert take() == TooFast(10_000)
    assert admitted([take(10), take(10)]) == 1


def test_keys_are_counted_apart(take: Take) -> None:
    assert admitted([take() for _ in range(7)]) == 5
    assert isinstance(take(caller=Caller(TENANT, "ffffffffffff")), Admitted)
    assert isinstance(take(caller=Caller("other", CALLER.key_id)), Admitted)


def hammered(rates: RequestRates, limits: RequestLimits, now_ms: int) -> int:
    """How many of a hundred and twenty requests are admitted that are made at once."""

    def ask(_thread: int) -> list[Admission]:
        return [rates.take(CALLER, limits=limits, now_ms=now_ms) for _ in range(EACH)]

    with ThreadPoolExecutor(THREADS) as threads:
        return sum(map(admitted, threads.map(ask, range(THREADS))))


def hold_to_the_limits(rates: RequestRates) -> None:
    limits = RequestLimits(per_second=100, burst=50, per_day=70)
    assert hammered(rates, limits, NOW_MS) == 50
    assert hammered(rates, limits, NOW_MS + 100) == 10
    assert hammered(rates, limits, NOW_MS + 10_000) == 10  # all that the day has left
    assert hammered(rates, limits, MIDNIGHT_MS) == 50


def test_in_memory_many_at_once_are_no_more_than_the_limits() -> None:
    hold_to_the_limits(MemoryRequestRates())


@pytest.mark.long
def test_in_the_cloud_many_at_once_are_no_more_than_the_limits(ministack: Cloud) -> None:
    name = state_table(ministack.client("dynamodb"), ministack.fresh("state"))
    hold_to_the_limits(DynamoDbRequestRates(ministack.table(name)))
