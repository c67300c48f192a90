"""The contract of `TenantItems`."""

import pytest

from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantItems
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.contracts.tables import POOLS_PARTITION
from switchyard.domain.access.erasure import Table, TenantItem
from switchyard.ports.erasure import TenantItems
from switchyard.testing.tenants import MemoryTenantItems
from tests.builders import JOB_ID
from tests.contract.clouds import Cloud
from tests.fakes.tables import a_table

ITEMS = [
    TenantItem("keys", "TENANT#acme#APIKEYS", "KEY#1"),
    TenantItem("definitions", "TENANT#acme", "LATEST#scrape"),
    TenantItem("state", f"TENANT#acme#JOB#{JOB_ID}", "JOB"),
    TenantItem("state", f"TENANT#acme#JOB#{JOB_ID}", "TASK#a"),
    TenantItem("state", "TENANT#acme#JOB#~order-1", "TASK#order-1"),
    TenantItem("state", "TENANT#acme#SETTINGS", "SETTINGS"),
    TenantItem("state", "TENANT#acme#LIMIT#q:review:5", "LIMIT"),
    TenantItem("state", "GROUP#review", "TENANT#acme"),
    TenantItem("state", "TENANT#acme#QUEUES", "QUEUE#default/builds"),
    TenantItem("state", "ALERTS", f"job/acme/{JOB_ID}@#brand"),
    TenantItem("state", "ALERTS", f"letters/quarantine/acme/{JOB_ID}"),
    TenantItem("events", "TENANT#acme", "TIMESTAMP#1#EVENT#1", f"{JOB_ID}__a"),
]
OTHERS = [
    TenantItem("keys", "TENANT#acme-inc#APIKEYS", "KEY#2"),
    TenantItem("state", f"TENANT#acme-inc#JOB#{JOB_ID}", "JOB"),
    TenantItem("state", "GROUP#review", "TENANT#acme-inc"),
    TenantItem("state", "GROUP#review", "FLOOR"),
    TenantItem("state", "TENANT#acme-inc#QUEUES", "QUEUE#default/builds"),
    TenantItem("state", POOLS_PARTITION, "POOL#drones"),
    TenantItem("state", "ALERTS", "health"),
    TenantItem("state", "ALERTS", f"job/acme-inc/{JOB_ID}"),
    TenantItem("events", "TENANT#acme-inc", "TIMESTAMP#1#EVENT#2", JOB_ID),
]


def stored(cloud: Cloud) -> DynamoDbTenantItems:
    dynamodb = cloud.client("dynamodb")
    names: tuple[Table, ...] = ("keys", "definitions", "state", "events")
    tables = {name: DynamoDbTable(dynamodb, a_table(dynamodb, cloud.fresh(name))) for name in names}
    for item in [*ITEMS, *OTHERS]:
        about = {"entityId": item.entity} if item.entity else {}
        tables[item.table].put_new({"PK": item.partition, "SK": item.sort, **about})
    return DynamoDbTenantItems(tables)


@pytest.fixture(params=["memory", "moto", "ministack"])
def items(request: pytest.FixtureRequest) -> TenantItems:
    if request.param == "memory":
        return MemoryTenantItems([*OTHERS, *ITEMS])
    return stored(request.getfixturevalue(request.param))


def test_all_items_of_a_tenant_are_found_and_none_of_another(items: TenantItems) -> None:
    found = list(items.of_tenant("acme"))
    assert sorted(map(str, found)) == sorted(map(str, ITEMS))
    assert found[0].table == "keys"


def test_what_is_deleted_is_gone_and_nothing_else(items: TenantItems) -> None:
    others = list(items.of_tenant("acme-inc"))
    for item in items.of_tenant("acme"):
        items.delete([item])
    items.delete(ITEMS)
    assert list(items.of_tenant("acme")) == []
    assert list(items.of_tenant("acme-inc")) == others
