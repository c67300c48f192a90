"""Many items at once: what is there stays, what is missing comes, and nothing is put one by one."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import deserialized
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.pauses import Pauses
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.testing import ManualClock
from tests.fakes.dynamodb.busy_partition import BusyPartition
from tests.fakes.dynamodb.lossy_line import Line, answer_lost, repeated, throttled
from tests.fakes.tables import a_table
from tests.simulation.cloud.dynamodb import DynamoDb

A = TypeVar("A")
B = TypeVar("B")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class Counted:
    """Counts transactions, and may cancel the next ones."""

    def __init__(self, client: Any, *cancelled: str) -> None:
        self._client = client
        self._cancelled = list(cancelled)
        self.sizes: list[int] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        assert name == "transact_write_items", f"{name} is not for many"
        return self._transact

    def _transact(self, **request: Any) -> Any:
        self.sizes.append(len(request["TransactItems"]))
        if self._cancelled:
            reasons = [{"Code": self._cancelled.pop(0)}, *[{"Code": "None"}] * (self.sizes[-1] - 1)]
            response: Any = {
                "Error": {"Code": "TransactionCanceledException", "Message": "m"},
                "CancellationReasons": reasons,
            }
            raise ClientError(response, "TransactWriteItems")
        return self._client.transact_write_items(**request)


class Crowd(OneByOne):
    """Remembers how many were asked for."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def each(self, act: Callable[[A], B], things: Sequence[A]) -> list[B]:
        self.sizes.append(len(things))
        return super().each(act, things)


@pytest.fixture
def dynamodb() -> DynamoDb:
    dynamodb = DynamoDb()
    a_table(dynamodb, "t")
    return dynamodb


def table(client: Any, clock: ManualClock | None = None) -> DynamoDbTable:
    clock = clock or ManualClock()
    pauses = Pauses(clock.sleep, lambda _low, high: high, clock.monotonic)
    return DynamoDbTable(client, "t", pauses=pauses, parallel=OneByOne())


def items(*numbers: int, by: str = "us") -> list[dict[str, Any]]:
    return [{"PK": "p", "SK": f"{number:03d}", "by": by} for number in numbers]


def stored(dynamodb: DynamoDb) -> dict[str, str]:
    found = map(deserialized, dynamodb.items("t"))
    return {item["SK"]: item["by"] for item in found}


def test_a_hundred_are_one_transaction(dynamodb: DynamoDb) -> None:
    counted = Counted(dynamodb)
    table(counted).put_many(items(*range(250)))
    assert counted.sizes == [100, 100, 50]
    assert len(stored(dynamodb)) == 250


def test_those_that_are_there_stay_and_cost_one_transaction_more(dynamodb: DynamoDb) -> None:
    table(dynamodb).put_many(items(3, 50, 99, by="another"))
    counted = Counted(dynamodb)
    table(counted).put_many(items(*range(100)))
    assert counted.sizes == [100, 97]
    there = stored(dynamodb)
    assert {name for name, by in there.items() if by == "another"} == {"003", "050", "099"}
    assert len(there) == 100


def test_when_all_are_there_nothing_more_is_asked(dynamodb: DynamoDb) -> None:
    table(dynamodb).put_many(items(*range(100), by="another"))
    counted = Counted(dynamodb)
    table(counted).put_many(items(*range(100)))
    assert counted.sizes == [100]
    assert set(stored(dynamodb).values()) == {"another"}


@pytest.mark.parametrize("reason", ["TransactionConflict", "ThrottlingError"])
def test_who_is_in_the_way_passes(dynamodb: DynamoDb, reason: str) -> None:
    counted = Counted(dynamodb, reason, reason)
    table(counted).put_many(items(1, 2))
    assert counted.sizes == [2, 2, 2]
    assert len(stored(dynamodb)) == 2


def test_a_write_that_never_succeeds_fails_when_the_time_is_over(
    dynamodb: DynamoDb, clock: ManualClock
) -> None:
    begun = clock.monotonic()
    with pytest.raises(Unavailable, match="2 items unwritten"):
        table(Counted(dynamodb, *["TransactionConflict"] * 99), clock).put_many(
            items(1, 2), seconds=12
        )
    assert 10 <= clock.monotonic() - begun <= 12


def test_without_any_time_everything_is_tried_once(dynamodb: DynamoDb) -> None:
    counted = Counted(dynamodb)
    table(counted).put_many(items(*range(250)), seconds=0)
    assert counted.sizes == [100, 100, 50]


def test_large_items_are_fewer_at_once(dynamodb: DynamoDb) -> None:
    counted = Counted(dynamodb)
    table(counted).put_many(items(*range(100), by="x" * 7_000))
    assert counted.sizes == [28, 28, 28, 16]  # 14 of 400 units each


def test_an_item_larger_than_that_is_written_alone(dynamodb: DynamoDb) -> None:
    counted = Counted(dynamodb)
    table(counted).put_many(items(1, 2, by="x" * 300_000))
    assert counted.sizes == [1, 1]


def test_what_a_partition_takes_in_ten_seconds_is_written_within_twenty(
    dynamodb: DynamoDb, clock: ManualClock
) -> None:
    partition, begun = BusyPartition(dynamodb, clock.monotonic), clock.monotonic()
    table(partition, clock).put_many(items(*range(1_000), by="x" * 4_500), seconds=20)
    assert len(stored(dynamodb)) == 1_000
    assert partition.throttled
    assert 9 <= clock.monotonic() - begun <= 20


def test_a_refused_request_is_tried_again_too(dynamodb: DynamoDb) -> None:
    line = Line(dynamodb)
    line.write_fate = throttled
    table(line).put_many(items(1, 2))
    assert len(stored(dynamodb)) == 2


def test_not_many_write_at_the_same_time(dynamodb: DynamoDb) -> None:
    crowd = Crowd()
    DynamoDbTable(dynamodb, "t", parallel=crowd).put_many(items(*range(999)))
    assert crowd.sizes == [2]


def test_an_item_that_cannot_be_stored_is_no_outage(dynamodb: DynamoDb) -> None:
    with pytest.raises(ClientError):
        table(Counted(dynamodb, "ValidationError")).put_many(items(1, 2))


def test_an_answer_that_is_lost_leaves_it_to_the_next_try(dynamodb: DynamoDb) -> None:
    line = Line(dynamodb)
    line.write_fate = answer_lost
    with pytest.raises(AnswerLost):
        table(line).put_many(items(1, 2))
    line.write_fate = repeated
    table(line).put_many(items(1, 2, 3, by="again"))
    assert stored(dynamodb) == {"001": "us", "002": "us", "003": "again"}
