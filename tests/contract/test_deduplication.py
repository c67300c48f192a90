"""The contract of `Deduplication`, which remembers what must not happen twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from switchyard.adapters.dynamodb.submission_keys import DynamoDbDeduplication
from switchyard.ports.deduplication import Deduplication
from switchyard.testing.deduplication import MemoryDeduplication
from tests.builders import NOW_MS
from tests.contract.clouds import Cloud
from tests.contract.conftest import MOTO, SIMULATED
from tests.fakes.tables import state_table

KEEP_MS = 600_000


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def deduplication(request: pytest.FixtureRequest) -> Deduplication:
    if request.param == "memory":
        return MemoryDeduplication()
    cloud: Cloud = request.getfixturevalue(request.param)
    return DynamoDbDeduplication(
        cloud.table(state_table(cloud.client("dynamodb"), cloud.fresh("state")))
    )


def test_who_comes_first_is_first_and_nobody_after(deduplication: Deduplication) -> None:
    assert deduplication.first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    for later in (0, 1, KEEP_MS - 1):
        assert not deduplication.first("a", now_ms=NOW_MS + later, keep_ms=KEEP_MS)


def test_another_name_is_another_matter(deduplication: Deduplication) -> None:
    assert deduplication.first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    assert deduplication.first("b", now_ms=NOW_MS, keep_ms=KEEP_MS)


def test_of_several_at_once_one_is_first(ministack: Cloud) -> None:
    table = ministack.table(state_table(ministack.client("dynamodb"), ministack.fresh("state")))
    for deduplication in (MemoryDeduplication(), DynamoDbDeduplication(table)):
        with ThreadPoolExecutor(4) as pool:
            firsts = pool.map(
                lambda _, deduplication=deduplication: deduplication.first(
                    "a", now_ms=NOW_MS, keep_ms=KEEP_MS
                ),
                range(8),
            )
        assert sum(firsts) == 1


def test_the_table_forgets_it_by_itself_and_not_too_early(moto: Cloud) -> None:
    dynamodb = moto.client("dynamodb")
    name = state_table(dynamodb, moto.fresh("state"))
    DynamoDbDeduplication(moto.table(name)).first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    (item,) = dynamodb.scan(TableName=name)["Items"]
    forgotten_ms = int(item["ttl"]["N"]) * 1000
    assert NOW_MS + KEEP_MS <= forgotten_ms <= NOW_MS + KEEP_MS + 1000
