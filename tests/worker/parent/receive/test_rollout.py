"""A worker that a newer release replaces finishes its tasks and takes no other."""

import asyncio
from dataclasses import replace

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Pause
from switchyard.domain.health.rollout import Deployment, Hold, decide_hold
from switchyard.domain.tasks.task import Lease
from switchyard.testing.presence import MemoryDeployments
from switchyard_worker.parent.health.presence import PresenceReports
from switchyard_worker.parent.receive.loop import Loop
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import a_task
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import HangingInbox, LoopHarness, RecordedInbox, run, until
from tests.worker.recorded_presence import RecordedPresence

OLD, NEW = "switchyard-dev-worker:7", "switchyard-dev-worker:8"
REPLACED = "worker is replaced: it finishes its tasks and takes no more"


@pytest.fixture
def deployments(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> MemoryDeployments:
    monkeypatch.setattr("switchyard_worker.parent.receive.rollout.SECONDS_BETWEEN_LOOKS", 0.02)
    monkeypatch.setattr("switchyard_worker.parent.receive.intake.SECONDS_BETWEEN_LOOKS", 0)
    harness.memory.deployments = MemoryDeployments(OLD)
    return harness.memory.deployments


class Running:
    """A loop that runs until the block ends."""

    def __init__(self, one: LoopHarness, *, slots: int = 2) -> None:
        self.one = one
        self.loop: Loop = one.loop(slots=slots)

    async def __aenter__(self) -> Loop:
        self._task = asyncio.create_task(self.loop.run())
        return self.loop

    async def __aexit__(self, *_: object) -> None:
        self.one.stop.ask()
        self.one.finish.set()
        await self._task


@pytest.mark.parametrize(
    ("pause", "deployment", "hold"),
    [
        (None, None, None),
        (None, Deployment(own=OLD, current=OLD), None),
        (None, Deployment(own=OLD, current=NEW), Hold.REPLACED),
        (None, Deployment(own=NEW, current=OLD), Hold.REPLACED),
        (Pause(since_ms=1), None, Hold.PAUSED),
        (Pause(since_ms=1), Deployment(own=OLD, current=OLD), Hold.PAUSED),
        (Pause(since_ms=1), Deployment(own=OLD, current=NEW), Hold.REPLACED),
    ],
)
def test_a_worker_takes_tasks_unless_it_is_paused_or_replaced(
    pause: Pause | None, deployment: Deployment | None, hold: Hold | None
) -> None:
    assert decide_hold(pause=pause, deployment=deployment) is hold


def test_a_replaced_worker_finishes_its_task_and_receives_nothing_more(
    harness: WorkerHarness, deployments: MemoryDeployments
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(1)
        async with Running(one) as loop:
            await until(lambda: len(one.handling) == 1)
            assert loop.intake.load.release == OLD
            deployments.current = NEW
            await until(lambda: loop.intake.load.draining)
            await asyncio.sleep(0.1)
            received = len(one.inbox.asked)
            one.send(3)
            one.finish.set()
            await until(lambda: one.inbox.deleted == [1])
            await asyncio.sleep(0.1)
            assert len(one.inbox.asked) == received
            assert len(one.handling) == 1
            assert one.waiting == 3

    run(story())


def test_what_a_long_poll_brings_to_a_replaced_worker_is_put_back(
    harness: WorkerHarness, deployments: MemoryDeployments
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, inbox := HangingInbox(harness))
        one.send(1)
        async with Running(one) as loop:
            await until(lambda: len(one.handling) == 1 and inbox.hanging.is_set())
            deployments.current = NEW
            await until(lambda: loop.intake.load.draining)
            one.send(1)
            inbox.answer.set()
            await until(lambda: len(inbox.let_go) == 1)
            assert len(one.handling) == 1

    run(story())


def test_a_release_that_is_rolled_back_lets_the_old_workers_take_tasks_again(
    harness: WorkerHarness, deployments: MemoryDeployments, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.finish.set()
        deployments.current = NEW
        async with Running(one) as loop:
            await until(lambda: loop.intake.load.draining)
            one.send(1)
            await asyncio.sleep(0.1)
            assert one.waiting == 1
            deployments.current = OLD
            await until(lambda: one.waiting == 0)
            assert not loop.intake.load.draining

    with caplog.at_level("INFO"):
        run(story())
    assert caplog.messages[-1] == "worker is current again and takes tasks"


def test_what_cannot_be_seen_changes_nothing_and_is_logged_once(
    harness: WorkerHarness, deployments: MemoryDeployments, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.finish.set()
        deployments.outage = Unavailable("AccessDeniedException")
        async with Running(one) as loop:
            one.send(1)
            await until(lambda: one.waiting == 0)
            await asyncio.sleep(0.2)
            deployments.outage, deployments.current = None, NEW
            await until(lambda: loop.intake.load.draining)
            deployments.outage = Unavailable("AccessDeniedException")
            await asyncio.sleep(0.2)
            assert loop.intake.load.draining, "it stays as it was seen"

    run(story())
    assert caplog.messages.count("deployment cannot be seen") == 2


def test_a_replaced_worker_logs_what_it_waits_for(
    harness: WorkerHarness, deployments: MemoryDeployments, caplog: pytest.LogCaptureFixture
) -> None:
    held = Lease(task=a_task("slow"), owner="worker-1/1")

    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        async with Running(one) as loop:
            with one.protection.holding(held):
                await one.protection.cover(held, seconds=300)
                deployments.current = NEW
                await until(lambda: caplog.messages.count(REPLACED) >= 2)
                assert loop.intake.load.busy == 1
                assert loop.intake.load.busy_until_ms is not None

    with caplog.at_level("INFO"):
        run(story())
    said = next(vars(record) for record in caplog.records if record.message == REPLACED)
    assert said["tasks"] == [held.ref.request_id]
    assert 290 < said["at_most_seconds"] <= 300
    assert (said["release"], said["current_release"]) == (OLD, NEW)


def test_its_presence_says_at_once_that_it_drains(
    harness: WorkerHarness, deployments: MemoryDeployments
) -> None:
    presence = RecordedPresence()

    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        async with Running(one) as loop:
            ports = replace(harness.ports(), presence=presence)
            there = PresenceReports(
                runtime_of(ports),
                ports.presence,
                worker_id=ports.worker_id,
                slots=2,
                backend="offline",
                functions=lambda: ("my_functions@ab12",),
                load=lambda: loop.intake.load,
                changed=loop.intake.changed,
            )
            there.begin()
            await until(lambda: any(worker.release == OLD for worker in presence.all()))
            deployments.current = NEW
            await until(lambda: any(worker.draining for worker in presence.all()))
            await there.end()

    run(story())
    assert presence.all() == []


def test_where_nothing_replaces_workers_it_is_asked_once(harness: WorkerHarness) -> None:
    looks: list[None] = []

    class Nowhere(MemoryDeployments):
        def look(self) -> None:
            looks.append(None)

    async def story() -> None:
        harness.memory.deployments = Nowhere()
        one = LoopHarness(harness, RecordedInbox(harness))
        async with Running(one):
            await until(lambda: len(one.inbox.asked) >= 5)

    run(story())
    assert len(looks) == 1
