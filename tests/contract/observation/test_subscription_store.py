"""The contract of `SubscriptionStore`: what operators changed of pools' subscriptions."""

from tests.contract.conftest import Backend


def test_at_first_nothing_is_changed(backend: Backend) -> None:
    assert backend.subscriptions.all() == {}


def test_changes_of_several_groups_and_pools_add_up(backend: Backend) -> None:
    assert backend.subscriptions.change("drones", "build", 3) == {"build": 3}
    assert backend.subscriptions.change("drones", "test", 1) == {"build": 3, "test": 1}
    backend.subscriptions.change("default", "build", 1)
    assert backend.subscriptions.all() == {
        "drones": {"build": 3, "test": 1},
        "default": {"build": 1},
    }


def test_the_last_weight_of_a_group_holds(backend: Backend) -> None:
    backend.subscriptions.change("drones", "build", 3)
    assert backend.subscriptions.change("drones", "build", 0) == {"build": 0}
    assert backend.subscriptions.all() == {"drones": {"build": 0}}
