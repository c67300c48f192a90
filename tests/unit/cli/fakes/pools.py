"""The pools of a stage, in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.domain.scheduling.pools import DeployedPool, Pool, Subscription, WhenEmpty
from switchyard.testing import ManualClock
from switchyard.testing.presence import MemoryPresence, MemorySubscriptionStore
from switchyard.testing.transport import MemoryQueueDepths, MemoryTaskQueue
from switchyard.usecases.scheduling.pool_directory import PoolDirectory
from switchyard.usecases.scheduling.survey_pools import PoolSurvey
from switchyard_local.endpoint import Endpoint
from tests.builders import NOW_MS


def a_pool(name: str = "default", *groups: str) -> Pool:
    subscriptions = tuple(map(Subscription, groups or (name,)))
    return Pool(name=name, when_empty=WhenEmpty.POLL, subscriptions=subscriptions)


class FakePools:
    def __init__(self) -> None:
        clock = ManualClock(NOW_MS)
        pools = [a_pool("default"), a_pool("drones")]
        deployed = [DeployedPool(pool, f"https://sqs/{pool.name}") for pool in pools]
        self.queues = {one.queue_url: MemoryTaskQueue(clock) for one in deployed}
        self.presence = MemoryPresence()
        self.store = MemorySubscriptionStore()
        self.survey = PoolSurvey(
            directory=PoolDirectory(deployed, store=self.store, clock=clock),
            presence=self.presence,
            depths=MemoryQueueDepths(self.queues),
            clock=clock,
        )

    @contextmanager
    def __call__(self, _stage: str, _local: Endpoint | None) -> Iterator[PoolSurvey]:
        yield self.survey
