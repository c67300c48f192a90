"""A worker says that it is there, and that it leaves."""

import asyncio
from dataclasses import replace

import pytest

from switchyard import VERSION
from switchyard.adapters.memory import ManualClock
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Load, PresentWorker, those_there
from tests.builders import NOW_MS
from tests.worker.loop_yard import run, until
from tests.worker.recorded_presence import RecordedPresence
from tests.worker.yard import WorkerYard
from worker.parent.health.presence import Attendance

THERE = PresentWorker(
    worker_id="worker-1",
    started_at_ms=NOW_MS,
    seen_at_ms=NOW_MS,
    slots=3,
    busy=0,
    version=VERSION,
)


class Office:
    """A worker whose minutes pass when a test says so."""

    def __init__(self, yard: WorkerYard, presence: RecordedPresence) -> None:
        self.clock = ManualClock(NOW_MS)
        self.pauses: list[float] = []
        self._turn = asyncio.Event()
        ports = replace(yard.ports(), clock=self.clock, sleep=self._sleep, presence=presence)
        self.load = Load(busy=0)
        self.changed = asyncio.Event()
        self.attendance = Attendance(ports, slots=3, load=lambda: self.load, changed=self.changed)

    async def pass_a_minute(self) -> None:
        await until(lambda: bool(self.pauses))
        self.clock.sleep(self.pauses.pop())
        self._turn.set()

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self._turn.wait()
        self._turn.clear()


@pytest.fixture
def presence() -> RecordedPresence:
    return RecordedPresence()


def test_it_says_so_at_once_every_minute_and_when_it_leaves(
    yard: WorkerYard, presence: RecordedPresence
) -> None:
    async def story() -> None:
        office = Office(yard, presence)
        office.attendance.begin()
        await until(lambda: len(presence.words) == 1)
        office.load = Load(busy=2)
        await office.pass_a_minute()
        await until(lambda: len(presence.words) == 2)
        await office.attendance.end()

    run(story())
    later = replace(THERE, seen_at_ms=NOW_MS + 60_000, busy=2)
    assert presence.words == [THERE, later, "worker-1"]
    assert presence.all() == []


def test_an_outage_is_logged_and_no_more(
    yard: WorkerYard, presence: RecordedPresence, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        office = Office(yard, presence)
        presence.outage = Unavailable("the table is down")
        office.attendance.begin()
        await office.pass_a_minute()
        await until(lambda: len(presence.words) == 2)
        await office.attendance.end()

    run(story())
    assert caplog.messages == ["presence is not told"] * 3


def test_nobody_waits_for_ever_for_the_last_word(
    yard: WorkerYard, presence: RecordedPresence
) -> None:
    async def story() -> None:
        office = Office(yard, presence)
        presence.listens.clear()
        office.attendance.begin()
        await until(lambda: len(presence.words) == 1)
        ending = asyncio.create_task(office.attendance.end())
        await office.pass_a_minute()
        await ending
        presence.listens.set()

    run(story())
    assert presence.words == [THERE]


@pytest.mark.parametrize(("silent_ms", "there"), [(-5_000, 1), (150_000, 1), (150_001, 0)])
def test_a_worker_is_there_until_it_was_silent_for_two_and_a_half_minutes(
    silent_ms: int, there: int
) -> None:
    assert len(those_there([THERE], now_ms=NOW_MS + silent_ms)) == there
