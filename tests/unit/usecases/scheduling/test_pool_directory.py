"""Wake-ups go to every pool that serves their group, and changes need no restart."""

from collections.abc import Mapping

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.scheduling.pools import (
    ChangedWeights,
    DeployedPool,
    Pool,
    PoolKind,
    Subscription,
    WhenEmpty,
)
from switchyard.testing import ManualClock
from switchyard.testing.presence import MemorySubscriptionStore
from switchyard.testing.transport import MemoryTaskQueue
from switchyard.usecases.scheduling.list_pools import list_pools
from switchyard.usecases.scheduling.pool_directory import (
    CACHED_SECONDS,
    PoolDirectory,
    PoolInbox,
    PoolQueues,
    UnknownPool,
)
from tests.builders import NOW_MS, a_task

POOLS = [
    Pool(name=name, when_empty=WhenEmpty.POLL, subscriptions=(Subscription(group),))
    for name, group in (("default", "default"), ("drones", "drones"))
]


class OutagesOnDemand(MemorySubscriptionStore):
    outage = False

    def all(self) -> Mapping[str, ChangedWeights]:
        if self.outage:
            raise Unavailable("the table")
        return super().all()


class Routed:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.store = OutagesOnDemand()
        self.queues = {pool.name: MemoryTaskQueue(self.clock) for pool in POOLS}
        deployed = [DeployedPool(pool, pool.name) for pool in POOLS]
        self.directory = PoolDirectory(deployed, store=self.store, clock=self.clock)
        self.queue = PoolQueues(self.directory, self.queues.__getitem__)

    def send(self, queue: str | None) -> None:
        self.queue.send([TaskMessage.waking(a_task(queue=queue))])

    @property
    def waiting(self) -> tuple[int, int]:
        return self.queues["default"].waiting, self.queues["drones"].waiting

    def inbox(self, pool: str) -> PoolInbox:
        inbox = self.queues[pool]
        return PoolInbox(pool, inbox=inbox, directory=self.directory, queue=self.queue)


@pytest.fixture
def routed() -> Routed:
    return Routed()


def test_a_task_wakes_the_pool_of_its_group_alone(routed: Routed) -> None:
    routed.send(None)
    assert routed.waiting == (1, 0)
    routed.send("drones/nightly")
    assert routed.waiting == (1, 1)


def test_two_pools_on_one_group_both_get_a_wake_up(routed: Routed) -> None:
    routed.directory.subscribe("drones", Subscription("default"))
    routed.send(None)
    assert routed.waiting == (1, 1)


def test_tasks_of_a_group_that_nobody_serves_wait(routed: Routed) -> None:
    routed.send("build")
    assert routed.waiting == (0, 0)
    assert routed.directory.serving("build") == []


def test_a_change_by_others_is_seen_within_seconds(routed: Routed) -> None:
    routed.send("build")
    routed.store.change("drones", "build", 1)
    routed.send("build")
    assert routed.waiting == (0, 0)
    routed.clock.sleep(CACHED_SECONDS)
    routed.send("build")
    assert routed.waiting == (0, 1)


def test_an_outage_leaves_what_was_read_last(routed: Routed) -> None:
    routed.send(None)
    routed.store.outage = True
    routed.clock.sleep(CACHED_SECONDS)
    routed.send(None)
    assert routed.waiting == (2, 0)


def test_nothing_is_sent_if_nothing_was_ever_read(routed: Routed) -> None:
    routed.store.outage = True
    with pytest.raises(Unavailable):
        routed.send(None)


def test_only_known_pools_change_and_only_what_they_serve_ends(routed: Routed) -> None:
    with pytest.raises(UnknownPool, match="the pools of this stage are default, drones"):
        routed.directory.subscribe("ants", Subscription("build"))
    with pytest.raises(Rejected, match="does not serve the group build"):
        routed.directory.unsubscribe("drones", "build")


def test_a_group_of_agents_is_closed_to_functions(routed: Routed) -> None:
    light = Pool(name="light", kind=PoolKind.LAMBDA, when_empty=WhenEmpty.POLL, subscriptions=())
    deployed = [DeployedPool(pool, pool.name) for pool in (*POOLS, light)]
    directory = PoolDirectory(deployed, store=routed.store, clock=routed.clock)
    with pytest.raises(Rejected, match="another kind"):
        directory.subscribe("light", Subscription("drones"))


def test_a_worker_passes_on_what_its_pool_has_ceased_to_serve(routed: Routed) -> None:
    routed.send(None)
    routed.directory.subscribe("drones", Subscription("default"))
    routed.directory.unsubscribe("default", "default")
    assert not routed.inbox("default").receive(at_most=10, wait_seconds=0, visibility_seconds=30)
    assert routed.waiting == (0, 1)
    (received,) = routed.inbox("drones").receive(at_most=1, wait_seconds=0, visibility_seconds=30)
    assert TaskMessage.model_validate_json(received.body).ref == a_task().ref


def test_other_producers_messages_stay_with_the_pool_that_received_them(routed: Routed) -> None:
    routed.directory.unsubscribe("default", "default")
    routed.queues["default"].send_body('{"name": "scrape"}')
    received = routed.inbox("default").receive(at_most=1, wait_seconds=0, visibility_seconds=30)
    assert len(received) == 1


def test_tenants_learn_names_and_groups_alone(routed: Routed) -> None:
    routed.directory.subscribe("drones", Subscription("build", 3))
    listed = list_pools(routed.directory).model_dump()
    assert listed == {
        "pools": (
            {"name": "default", "kind": "fargate", "groups": ("default",)},
            {"name": "drones", "kind": "fargate", "groups": ("drones", "build")},
        ),
        "served": ("build", "default", "drones"),
    }
