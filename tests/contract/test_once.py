"""What everybody promises who remembers what must not happen twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from switchyard.adapters.dynamodb.once import DynamoDbOnce
from switchyard.adapters.memory.once import MemoryOnce
from switchyard.ports.once import Once
from tests.builders import NOW_MS
from tests.contract.clouds import Cloud
from tests.fakes.tables import state_table

KEEP_MS = 600_000


@pytest.fixture(params=["memory", "moto", "ministack", "simulated"])
def once(request: pytest.FixtureRequest) -> Once:
    if request.param == "memory":
        return MemoryOnce()
    cloud: Cloud = request.getfixturevalue(request.param)
    return DynamoDbOnce(cloud.table(state_table(cloud.client("dynamodb"), cloud.fresh("state"))))


def test_who_comes_first_is_first_and_nobody_after(once: Once) -> None:
    assert once.first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    for later in (0, 1, KEEP_MS - 1):
        assert not once.first("a", now_ms=NOW_MS + later, keep_ms=KEEP_MS)


def test_another_name_is_another_matter(once: Once) -> None:
    assert once.first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    assert once.first("b", now_ms=NOW_MS, keep_ms=KEEP_MS)


def test_of_several_at_once_one_is_first(ministack: Cloud) -> None:
    table = ministack.table(state_table(ministack.client("dynamodb"), ministack.fresh("state")))
    for once in (MemoryOnce(), DynamoDbOnce(table)):
        with ThreadPoolExecutor(4) as pool:
            firsts = pool.map(
                lambda _, once=once: once.first("a", now_ms=NOW_MS, keep_ms=KEEP_MS), range(8)
            )
        assert sum(firsts) == 1


def test_the_table_forgets_it_by_itself_and_not_too_early(moto: Cloud) -> None:
    dynamodb = moto.client("dynamodb")
    name = state_table(dynamodb, moto.fresh("state"))
    DynamoDbOnce(moto.table(name)).first("a", now_ms=NOW_MS, keep_ms=KEEP_MS)
    (item,) = dynamodb.scan(TableName=name)["Items"]
    forgotten_ms = int(item["ttl"]["N"]) * 1000
    assert NOW_MS + KEEP_MS <= forgotten_ms <= NOW_MS + KEEP_MS + 1000
