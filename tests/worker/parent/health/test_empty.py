"""A worker leaves when its groups have no work, if its pool says so."""

import asyncio
from dataclasses import replace

import pytest

from switchyard.bootstrap import WorkerPool
from switchyard.domain.health.presence import Load, PresentWorker
from switchyard.domain.scheduling.pools import DeployedPool, Pool, Subscription, WhenEmpty
from switchyard.ports import QueueDepth
from switchyard.testing.presence import MemorySubscriptionStore
from switchyard.usecases.scheduling.pool_directory import PoolDirectory
from switchyard_worker.parent.health.empty import EmptyWatch
from switchyard_worker.parent.health.stop import Stop
from tests.builders import NOW_MS
from tests.worker.harness import WorkerHarness

EMPTY = QueueDepth(waiting=0, hidden=0)
POOL = Pool(name="default", when_empty=WhenEmpty.POLL, subscriptions=(Subscription("default"),))


class Idle:
    """A worker that reads one depth after the other; at the end of the list the test ends."""

    def __init__(self, harness: WorkerHarness, when_empty: WhenEmpty, *depths: QueueDepth) -> None:
        self.reads = 0
        self.depths = depths
        self.load = Load(busy=0)
        ports = harness.ports()
        pool = WorkerPool(
            directory=PoolDirectory(
                [DeployedPool(POOL, "url")], store=MemorySubscriptionStore(), clock=ports.clock
            ),
            own_queue=ports.queue,
            depth=self._depth,
        )
        self.ports = replace(ports, pool=pool, sleep=self._sleep)
        self.settings = harness.settings.model_copy(update={"when_empty": when_empty})

    def leaves(self) -> bool:
        async def watch() -> bool:
            stop = Stop(grace_seconds=1, sleep=self._sleep)
            watch = EmptyWatch(self.ports, self.settings, stop=stop, load=lambda: self.load)
            try:
                await watch.keep()
            except _AtTheEnd:
                return False
            return stop.asked.is_set()

        return asyncio.run(watch())

    def _depth(self) -> QueueDepth:
        self.reads += 1
        return self.depths[self.reads - 1]

    async def _sleep(self, _seconds: float) -> None:
        if self.reads == len(self.depths) or not self.reads:
            raise _AtTheEnd


class _AtTheEnd(Exception):
    pass


def test_one_that_polls_never_reads(harness: WorkerHarness) -> None:
    idle = Idle(harness, WhenEmpty.POLL, EMPTY)
    assert not idle.leaves()
    assert idle.reads == 0


@pytest.mark.parametrize("when_empty", [WhenEmpty.HIBERNATE, WhenEmpty.TERMINATE])
def test_two_empty_reads_let_it_leave(harness: WorkerHarness, when_empty: WhenEmpty) -> None:
    assert Idle(harness, when_empty, EMPTY, EMPTY).leaves()


@pytest.mark.parametrize(
    "found", [replace(EMPTY, waiting=1), replace(EMPTY, hidden=1), replace(EMPTY, delayed=1)]
)
def test_messages_keep_it(harness: WorkerHarness, found: QueueDepth) -> None:
    assert not Idle(harness, WhenEmpty.HIBERNATE, EMPTY, found, EMPTY).leaves()


def test_a_service_stops_who_hibernates_in_its_own_time(harness: WorkerHarness) -> None:
    idle = Idle(harness, WhenEmpty.HIBERNATE, EMPTY, EMPTY)
    idle.load = Load(busy=0, release="worker:7")
    assert not idle.leaves()


def test_a_batch_run_waits_for_others_of_its_groups(harness: WorkerHarness) -> None:
    idle = Idle(harness, WhenEmpty.TERMINATE, EMPTY, EMPTY)
    now_ms = idle.ports.clock.now_ms()
    other = PresentWorker(
        worker_id="other",
        started_at_ms=NOW_MS,
        seen_at_ms=now_ms,
        slots=1,
        busy=1,
        version="1",
        subscriptions=("default:2",),
    )
    harness.memory.presence.seen(other)
    assert not idle.leaves()
    idle.reads = 0
    harness.memory.presence.seen(replace(other, subscriptions=("build",)))
    assert idle.leaves()
