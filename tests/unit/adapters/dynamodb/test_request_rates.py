"""Others come in between what a count was chosen by and its write."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.dynamodb.access.limits import DynamoDbRequestRates
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import OneByOne
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import Admission, Admitted, DayUsedUp, RequestLimits, TooFast
from switchyard.domain.errors import Unavailable
from tests.builders import NOW_MS, TENANT
from tests.fakes.tables import state_table
from tests.simulation.cloud.dynamodb import DynamoDb

CALLER = Caller(TENANT, "0123456789ab")
LIMITS = RequestLimits(per_second=100, burst=5, per_day=8)
MIDNIGHT_MS = 1_800_057_600_000


class Interrupted:
    """Lets a waiting writer come first before each second write."""

    def __init__(self, client: DynamoDb) -> None:
        self._client = client
        self.first: Callable[[], object] | None = None
        self._writes = 0

    def update_item(self, **request: Any) -> Any:
        self._writes += 1
        first = self.first
        if first is not None and self._writes % 2 == 0:
            self.first = None
            first()
        return self._client.update_item(**request)


class Counter:
    def __init__(self) -> None:
        simulated = DynamoDb()
        name = state_table(simulated)
        self._client = Interrupted(simulated)
        self._rates = DynamoDbRequestRates(_table(self._client, name))
        self._others = DynamoDbRequestRates(_table(simulated, name))

    def count(self, times: int, *, at_ms: int = NOW_MS) -> list[Admission]:
        return [self._others.take(CALLER, limits=LIMITS, now_ms=at_ms) for _ in range(times)]

    def count_after(self, others: int, *, at_ms: int = NOW_MS) -> Admission:
        """The first write is refused; as many others are counted before the next."""
        self._client.first = lambda: self.count(others, at_ms=at_ms)
        return self._rates.take(CALLER, limits=LIMITS, now_ms=at_ms)


def _table(client: Any, name: str) -> DynamoDbTable:
    return DynamoDbTable(client, name, parallel=OneByOne())


@pytest.fixture
def counter() -> Counter:
    return Counter()


def test_the_last_of_a_burst_may_be_taken_in_between(counter: Counter) -> None:
    counter.count(1)
    assert counter.count_after(4) == TooFast(10_000)


def test_the_last_of_a_day_may_be_taken_in_between(counter: Counter) -> None:
    counter.count(5)
    counter.count(1, at_ms=NOW_MS + 1_000)
    assert counter.count_after(2, at_ms=NOW_MS + 1_000) == DayUsedUp(MIDNIGHT_MS)


def test_a_key_may_be_used_first_in_between(counter: Counter) -> None:
    verdict = counter.count_after(3)
    assert isinstance(verdict, Admitted)
    assert verdict.use.requests == 4


def test_a_day_may_begin_in_between(counter: Counter) -> None:
    counter.count(1)
    verdict = counter.count_after(3, at_ms=MIDNIGHT_MS)
    assert isinstance(verdict, Admitted)
    assert (verdict.use.day, verdict.use.requests) == ("2027-01-16", 4)


@pytest.mark.parametrize(
    "code", ["ProvisionedThroughputExceededException", "ThrottlingException", "InternalServerError"]
)
def test_a_key_whose_item_is_throttled_is_too_fast_and_other_outages_are_raised(code: str) -> None:
    class Hot:
        def update_item(self, **_: Any) -> Any:
            raise ClientError({"Error": {"Code": code, "Message": "m"}}, "UpdateItem")

    rates = DynamoDbRequestRates(_table(Hot(), "state"))
    if code == "InternalServerError":
        with pytest.raises(Unavailable):
            rates.take(CALLER, limits=LIMITS, now_ms=NOW_MS)
    else:
        assert rates.take(CALLER, limits=LIMITS, now_ms=NOW_MS) == TooFast(1_000_000)
