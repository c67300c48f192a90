"""Workers of the local cloud's pools have roles, environments and policies of their own."""

import json
from itertools import islice

import pytest

from switchyard_local.errors import CloudError
from switchyard_local.workers.pools import (
    LocalPool,
    first_role,
    is_role_of,
    pool_named,
    roles_of,
)

ROW = {
    "name": "drones",
    "min_workers": 0,
    "max_workers": 2,
    "scale_up_threshold": 20,
    "scale_down_threshold": 5,
    "scale_out_cooldown_seconds": 30,
    "scale_in_after_seconds": 300,
}
DRONES = LocalPool(
    {
        "POOL": "drones",
        "WHEN_EMPTY": "hibernate",
        "POOLS": json.dumps([{"pool": ROW, "queue_url": "https://sqs/drones"}]),
    }
)


def test_the_default_pools_roles_are_as_before_pools() -> None:
    assert list(islice(roles_of("default"), 3)) == ["worker", "worker-2", "worker-3"]
    assert list(islice(roles_of("drones"), 2)) == ["worker-drones", "worker-drones.2"]


@pytest.mark.parametrize(
    ("role", "pool"),
    [("worker", "default"), ("worker-2", "default"), ("worker-drones", "drones")],
)
def test_a_role_belongs_to_one_pool(role: str, pool: str) -> None:
    assert [name for name in ("default", "drones", "drones-2") if is_role_of(name, role)] == [pool]


def test_the_second_worker_of_a_pool_is_no_other_pools_first() -> None:
    assert is_role_of("drones", "worker-drones.2")
    assert first_role("drones-2") == "worker-drones-2"
    assert not is_role_of("drones", "worker-drones-2")


def test_a_pool_scales_by_its_row() -> None:
    assert DRONES.hibernates
    assert not DRONES.starts_with_the_cloud
    assert (DRONES.policy.max_workers, DRONES.policy.kept_for_each) == (2, 5)


def test_an_unknown_pool_is_named() -> None:
    assert pool_named([DRONES], "drones") is DRONES
    with pytest.raises(CloudError, match="pools of the local cloud are drones"):
        pool_named([DRONES], "ants")


def test_a_worker_without_pools_is_of_the_default_pool() -> None:
    assert LocalPool({}).name == "default"
    assert not LocalPool({}).hibernates
