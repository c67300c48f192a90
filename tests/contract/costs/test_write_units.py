"""The meter counts as DynamoDB does."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.dynamodb.values import serialized
from tests.contract.clouds import Cloud
from tests.fakes.dynamodb.write_units import MeteredDynamoDb, size_of
from tests.fakes.tables import state_table


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"a": "é"}, 3),
        ({"a": 0}, 3),
        ({"a": 1_800_000_000_000}, 3),
        ({"a": -12345}, 6),
        ({"a": 1.25}, 4),
        ({"a": True, "b": None}, 4),
        ({"a": {"é", "bc"}}, 5),
        ({"a": []}, 4),
        ({"a": ["bc", 1]}, 1 + 3 + 2 + 2 + 2),
        ({"a": {"b": "c"}}, 1 + 3 + 1 + 2),
    ],
)
def test_an_item_has_its_names_its_values_and_some_more(item: Any, size: int) -> None:
    assert size_of(serialized(item)) == size


@pytest.fixture
def meter(simulated: Cloud) -> MeteredDynamoDb:
    meter = MeteredDynamoDb(simulated.client("dynamodb"))
    state_table(meter)
    return meter


def put(meter: MeteredDynamoDb, *, size: int = 0, **attributes: Any) -> int:
    item = serialized({"PK": "p", "SK": "s", **attributes})
    padding = {"x": {"S": "x" * (size - size_of(item) - 1)}} if size else {}
    return meter.cost_of(lambda: meter.put_item(TableName="state-test", Item=item | padding))


DUE: dict[str, Any] = {"due_shard": 1, "due_at_ms": 1}
LISTED: dict[str, Any] = {"listed_under": "t", "listed_at": "1"}


@pytest.mark.parametrize(("size", "units"), [(10, 1), (1024, 1), (1025, 2), (3000, 3)])
def test_every_started_kilobyte_is_a_unit(meter: MeteredDynamoDb, size: int, units: int) -> None:
    assert put(meter, size=size) == units


def test_the_larger_of_before_and_after_counts(meter: MeteredDynamoDb) -> None:
    put(meter, size=3000)
    assert put(meter, size=10) == 3


def test_an_index_entry_is_paid_when_it_comes_changes_and_goes(meter: MeteredDynamoDb) -> None:
    assert put(meter, **DUE) == 1 + 1
    assert put(meter, **DUE, not_projected=1) == 1 + 0
    assert put(meter, **DUE | {"due_at_ms": 2}) == 1 + 2
    assert put(meter) == 1 + 1


def test_what_an_index_projects_is_paid_in_its_size(meter: MeteredDynamoDb) -> None:
    assert put(meter, **LISTED, name="n" * 1500) == 2 + 2
    assert put(meter, **LISTED, name="m") == 2 + 2
    assert put(meter, **LISTED, name="m") == 1 + 0


def an_update(condition: str) -> dict[str, Any]:
    return {
        "TableName": "state-test",
        "Key": serialized({"PK": "p", "SK": "s"}),
        "UpdateExpression": "SET due_shard = :one, due_at_ms = :one",
        "ConditionExpression": condition,
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def refused(meter: MeteredDynamoDb, write: str, **request: Any) -> int:
    def act() -> None:
        with pytest.raises(ClientError):
            getattr(meter, write)(**request)

    return meter.cost_of(act)


def test_a_refused_write_is_paid_and_its_index_is_not(meter: MeteredDynamoDb) -> None:
    absent = an_update("attribute_not_exists(PK)")
    put(meter, size=3000)
    assert refused(meter, "update_item", **absent) == 3
    larger = serialized({"PK": "p", "SK": "s", "x": "x" * 4000, **DUE})
    condition = {"ConditionExpression": absent["ConditionExpression"]}
    assert refused(meter, "put_item", TableName="state-test", Item=larger, **condition) == 4


def test_a_transaction_pays_the_table_twice(meter: MeteredDynamoDb) -> None:
    put(meter, size=1500)
    present, absent = an_update("attribute_exists(PK)"), an_update("attribute_not_exists(PK)")
    cost = refused(meter, "transact_write_items", TransactItems=[{"Update": absent}])
    assert cost == 2 * 2
    cost = meter.cost_of(lambda: meter.transact_write_items(TransactItems=[{"Update": present}]))
    assert cost == 2 * 2 + 1


def test_a_batch_pays_for_each_of_its_items(meter: MeteredDynamoDb) -> None:
    items = [serialized({"PK": "p", "SK": str(n), **DUE}) for n in range(3)]
    requests = {"state-test": [{"PutRequest": {"Item": item}} for item in items]}
    assert meter.cost_of(lambda: meter.batch_write_item(RequestItems=requests)) == 3 * (1 + 1)
