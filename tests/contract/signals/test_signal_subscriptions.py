"""The contract of `SignalSubscriptions`."""

from dataclasses import replace

import pytest

from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.domain.ids import JobRef
from switchyard.domain.signals.subscriptions import EventFilter, Subscription
from switchyard.ports.signals import SignalSubscriptions
from switchyard.testing.signals import MemorySignalSubscriptions
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.contract.clouds import Cloud
from tests.contract.conftest import MOTO, SIMULATED
from tests.fakes.tables import state_table

KIND = ("shop.orders", "Order Paid")


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def store(request: pytest.FixtureRequest) -> SignalSubscriptions:
    if request.param == "memory":
        return MemorySignalSubscriptions()
    cloud: Cloud = request.getfixturevalue(request.param)
    name = state_table(cloud.client("dynamodb"), cloud.fresh("signals"))
    return DynamoDbSignalSubscriptions(cloud.table(name))


def a_subscription(task_id: str = "paid", *, tenant: str = TENANT, run: int = 1) -> Subscription:
    return Subscription(
        ref=JobRef(tenant, JOB_ID).task(task_id),
        run=run,
        filter=EventFilter(
            sources=("shop.orders", "shop.returns"),
            detail_types=("Order Paid",),
            detail={"orderId": [17, 0.5, None, {"prefix": "é"}]},
        ),
        since_ms=NOW_MS,
        until_ms=NOW_MS + 60_000,
    )


def test_one_is_found_as_it_was_put_for_each_kind_of_event(store: SignalSubscriptions) -> None:
    store.put(a_subscription())
    assert list(store.page(TENANT, *KIND, at_most=9)) == [a_subscription()]
    assert list(store.page(TENANT, "shop.returns", "Order Paid", at_most=9)) == [a_subscription()]
    assert list(store.page(TENANT, "shop.returns", "Order Sent", at_most=9)) == []


def test_putting_again_changes_nothing(store: SignalSubscriptions) -> None:
    store.put(a_subscription())
    store.put(replace(a_subscription(), since_ms=NOW_MS + 5))
    assert list(store.page(TENANT, *KIND, at_most=9)) == [a_subscription()]


def test_tenants_do_not_see_each_others(store: SignalSubscriptions) -> None:
    store.put(a_subscription(tenant="acme-two"))
    assert list(store.page(TENANT, *KIND, at_most=9)) == []


def test_pages_are_by_name_and_go_on_behind_the_last(store: SignalSubscriptions) -> None:
    for name in ("c", "a", "d", "b"):
        store.put(a_subscription(name))
    first = store.page(TENANT, *KIND, at_most=3)
    rest = store.page(TENANT, *KIND, after=first[-1].name, at_most=3)
    assert [one.ref.task_id for one in (*first, *rest)] == ["a", "b", "c", "d"]


def test_what_is_removed_is_gone_from_each_kind_and_other_runs_stay(
    store: SignalSubscriptions,
) -> None:
    store.put(a_subscription())
    store.put(a_subscription(run=2))
    store.remove(a_subscription())
    store.remove(a_subscription())
    for source in ("shop.orders", "shop.returns"):
        assert list(store.page(TENANT, source, "Order Paid", at_most=9)) == [a_subscription(run=2)]
