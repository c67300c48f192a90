"""A worker is started for a pool that its stage has."""

import pytest
from pydantic import TypeAdapter, ValidationError

from switchyard.domain.scheduling.pools import DeployedPool, Pool, Subscription, WhenEmpty
from switchyard.settings import WorkerSettings
from tests.worker.harness import WorkerHarness

DRONES = Pool(name="drones", when_empty=WhenEmpty.POLL, subscriptions=(Subscription("drones", 3),))
POOLS = (DeployedPool(DRONES, "https://sqs/drones"),)


def test_pools_are_read_as_the_stacks_write_them(harness: WorkerHarness) -> None:
    written = TypeAdapter(tuple[DeployedPool, ...]).dump_python(POOLS, mode="json")
    settings = WorkerSettings(
        **harness.settings.model_dump() | {"pools": written, "pool": "drones"}
    )
    assert settings.pools == POOLS


def test_a_pool_that_is_not_there_is_named_with_those_that_are(harness: WorkerHarness) -> None:
    with pytest.raises(ValidationError, match="the pools of the stage are drones"):
        WorkerSettings(**harness.settings.model_dump() | {"pools": POOLS, "pool": "ants"})
