"""While consumption is paused nothing is received, and what runs finishes."""

import asyncio
from dataclasses import replace

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Pause
from switchyard.testing import ManualClock
from switchyard.testing.presence import MemoryPauseSwitch
from switchyard_worker.parent.receive.intake import SECONDS_BETWEEN_LOOKS, ConsumptionPause
from switchyard_worker.parent.receive.loop import HOLD_SECONDS
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import NOW_MS
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import LoopHarness, RecordedInbox, run, until


class CountedConsumption(MemoryPauseSwitch):
    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.outage: Unavailable | None = None

    def paused(self) -> Pause | None:
        self.looks += 1
        if self.outage:
            raise self.outage
        return super().paused()


@pytest.fixture
def pause_switch(harness: WorkerHarness) -> CountedConsumption:
    harness.memory.pause_switch = CountedConsumption()
    return harness.memory.pause_switch


@pytest.fixture
def clock(harness: WorkerHarness) -> ManualClock:
    return ManualClock()


@pytest.fixture
def pause(
    harness: WorkerHarness, pause_switch: CountedConsumption, clock: ManualClock
) -> ConsumptionPause:
    return ConsumptionPause(runtime_of(replace(harness.ports(), clock=clock)), pause_switch)


def is_on(pause: ConsumptionPause) -> bool:
    return asyncio.run(pause.pause()) is not None


def test_it_is_looked_at_once_in_ten_seconds(
    pause: ConsumptionPause, pause_switch: CountedConsumption, clock: ManualClock
) -> None:
    assert not any(is_on(pause) for _ in range(5))
    assert pause_switch.looks == 1
    pause_switch.pause(now_ms=NOW_MS)
    clock.sleep(SECONDS_BETWEEN_LOOKS)

    assert all(is_on(pause) for _ in range(5))
    assert pause_switch.looks == 2


@pytest.mark.parametrize("paused", [True, False])
def test_what_cannot_be_seen_stays_as_it_was(
    paused: bool, pause: ConsumptionPause, pause_switch: CountedConsumption, clock: ManualClock
) -> None:
    if paused:
        pause_switch.pause(now_ms=NOW_MS)
    assert is_on(pause) is paused

    pause_switch.outage = Unavailable("the table is down")
    clock.sleep(SECONDS_BETWEEN_LOOKS)

    assert is_on(pause) is paused
    assert pause_switch.looks == 2


def test_a_worker_may_look_more_often(
    harness: WorkerHarness, pause_switch: CountedConsumption, clock: ManualClock
) -> None:
    runtime = runtime_of(replace(harness.ports(), clock=clock))
    pause = ConsumptionPause(runtime, pause_switch, 1)
    assert not is_on(pause)
    pause_switch.pause(now_ms=NOW_MS)

    clock.sleep(1)

    assert is_on(pause)


def test_the_log_tells_of_each_change_once(
    pause: ConsumptionPause,
    pause_switch: CountedConsumption,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for change in (lambda: pause_switch.pause(now_ms=NOW_MS, reason="costs"), pause_switch.resume):
        change()
        for _ in range(3):
            clock.sleep(SECONDS_BETWEEN_LOOKS)
            is_on(pause)

    assert caplog.messages == ["consumption is paused", "consumption is resumed"]
    assert vars(caplog.records[0])["reason"] == "costs"


def test_a_paused_worker_receives_nothing_and_rests(
    harness: WorkerHarness, pause_switch: CountedConsumption
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(1)
        pause_switch.pause(now_ms=NOW_MS)
        running = asyncio.create_task(one.loop().run())
        await until(lambda: len(one.rests) >= 3)
        assert one.inbox.asked == []
        assert set(one.rests) == {HOLD_SECONDS}
        one.stop.ask()
        await running
        assert one.waiting == 1

    run(story())


def test_what_runs_when_consumption_is_paused_finishes(
    harness: WorkerHarness, pause_switch: CountedConsumption, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.receive.intake.SECONDS_BETWEEN_LOOKS", 0)

    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(1)
        running = asyncio.create_task(one.loop(slots=2).run())
        await until(lambda: len(one.handling) == 1)
        pause_switch.pause(now_ms=NOW_MS)
        await until(lambda: len(one.rests) >= 1)
        one.send(1)
        one.finish.set()
        await until(lambda: one.inbox.deleted == [1])
        await until(lambda: len(one.rests) >= 3)
        assert len(one.handling) == 1
        pause_switch.resume()
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert len(one.handling) == 2

    run(story())
