"""The contract of `WorkQueueStore`."""

from dataclasses import replace

import pytest

from switchyard.adapters.dynamodb.scheduling.work_queues import DynamoDbWorkQueueStore
from switchyard.domain.errors import Conflict
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.scheduling.work_queues import Concurrency, UnknownWorkQueue, WorkQueue
from switchyard.ports.work_queues import WorkQueueStore
from switchyard.testing.scheduling.work_queues import MemoryWorkQueueStore
from tests.builders import NOW_MS, TENANT
from tests.contract.clouds import Cloud
from tests.contract.conftest import MOTO, SIMULATED
from tests.fakes.tables import state_table

PLAIN = WorkQueue(tenant=TENANT, name="build", created_at_ms=NOW_MS)
HEAVY = WorkQueue(
    tenant=TENANT,
    name="build/heavy",
    lease_ms=60_000,
    max_attempts=2,
    priority=PriorityClass.HIGH,
    concurrency=Concurrency(limit=5, key="${input.repo}"),
    starts_per_minute=30,
    created_by="key-1",
    created_at_ms=NOW_MS,
)


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def store(request: pytest.FixtureRequest) -> WorkQueueStore:
    if request.param == "memory":
        return MemoryWorkQueueStore()
    cloud: Cloud = request.getfixturevalue(request.param)
    name = state_table(cloud.client("dynamodb"), cloud.fresh("queues"))
    return DynamoDbWorkQueueStore(cloud.table(name))


@pytest.mark.parametrize("queue", [PLAIN, HEAVY])
def test_a_queue_is_found_as_it_was_created(store: WorkQueueStore, queue: WorkQueue) -> None:
    assert store.create(queue)
    assert store.find_many(TENANT, [queue.name]) == {queue.name: queue}


def test_several_are_found_at_once_and_unknown_ones_are_left_out(store: WorkQueueStore) -> None:
    store.create(PLAIN)
    store.create(HEAVY)
    found = store.find_many(TENANT, ["build", "build/heavy", "other"])
    assert found == {"build": PLAIN, "build/heavy": HEAVY}
    assert store.find_many(TENANT, ["other"]) == {}
    assert store.find_many(TENANT, []) == {}


def test_a_second_one_of_the_same_name_is_refused(store: WorkQueueStore) -> None:
    store.create(HEAVY)
    assert not store.create(replace(HEAVY, lease_ms=None))
    assert store.find_many(TENANT, [HEAVY.name]) == {HEAVY.name: HEAVY}


def test_tenants_do_not_see_each_others(store: WorkQueueStore) -> None:
    store.create(HEAVY)
    assert store.find_many("acme-two", [HEAVY.name]) == {}
    assert store.page("acme-two", limit=10).queues == ()
    assert store.create(replace(HEAVY, tenant="acme-two"))
    with pytest.raises(UnknownWorkQueue):
        store.delete(replace(HEAVY, tenant="acme-three"), now_ms=NOW_MS)


def test_pages_are_by_name(store: WorkQueueStore) -> None:
    names = [f"build/q{number}" for number in range(5)]
    for name in reversed(names):
        store.create(replace(PLAIN, name=name))
    found: list[str] = []
    page = store.page(TENANT, limit=2)
    found += [queue.name for queue in page.queues]
    while page.after:
        page = store.page(TENANT, limit=2, after=page.after)
        found += [queue.name for queue in page.queues]
    assert found == names


def test_a_change_counts_the_version_up_and_takes_settings_away(store: WorkQueueStore) -> None:
    store.create(HEAVY)
    plain = WorkQueue(tenant=TENANT, name=HEAVY.name, created_at_ms=NOW_MS)
    changed = store.change(plain)
    assert changed == replace(plain, version=2)
    assert store.find_many(TENANT, [HEAVY.name]) == {HEAVY.name: changed}


def test_the_second_of_two_who_change_it_is_refused(store: WorkQueueStore) -> None:
    store.create(PLAIN)
    store.change(replace(PLAIN, max_attempts=1))
    with pytest.raises(Conflict, match="was changed at the same time"):
        store.change(replace(PLAIN, max_attempts=2))
    with pytest.raises(Conflict, match="was changed at the same time"):
        store.delete(PLAIN, now_ms=NOW_MS)


def test_what_is_deleted_is_gone_and_can_be_created_again(store: WorkQueueStore) -> None:
    store.create(HEAVY)
    store.delete(HEAVY, now_ms=NOW_MS)
    assert store.find_many(TENANT, [HEAVY.name]) == {}
    assert store.page(TENANT, limit=10).queues == ()
    with pytest.raises(UnknownWorkQueue):
        store.change(HEAVY)
    with pytest.raises(UnknownWorkQueue):
        store.delete(HEAVY, now_ms=NOW_MS)
    again = replace(PLAIN, name=HEAVY.name)
    assert store.create(again)
    assert store.find_many(TENANT, [HEAVY.name]) == {HEAVY.name: again}
