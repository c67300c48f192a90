"""A worker says that it is there, and that it leaves."""

import asyncio
from dataclasses import replace

import pytest

from switchyard import VERSION
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import Load, PresentWorker, those_there
from switchyard.testing import ManualClock
from switchyard_worker.parent.health.presence import PresenceReports
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import NOW_MS
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import run, until
from tests.worker.recorded_presence import RecordedPresence

THERE = PresentWorker(
    worker_id="worker-1",
    started_at_ms=NOW_MS,
    seen_at_ms=NOW_MS,
    slots=3,
    busy=0,
    version=VERSION,
    backend="offline",
    functions=("my_functions@ab12",),
)


class Office:
    """A worker whose minutes pass when a test says so."""

    def __init__(self, harness: WorkerHarness, presence: RecordedPresence) -> None:
        self.clock = ManualClock(NOW_MS)
        self.pauses: list[float] = []
        self._turn = asyncio.Event()
        ports = replace(harness.ports(), clock=self.clock, sleep=self._sleep)
        self.load = Load(busy=0)
        self.changed = asyncio.Event()
        self.reports = PresenceReports(
            runtime_of(ports),
            presence,
            worker_id=ports.worker_id,
            slots=3,
            backend="offline",
            functions=lambda: ("my_functions@ab12",),
            load=lambda: self.load,
            changed=self.changed,
        )

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
    harness: WorkerHarness, presence: RecordedPresence
) -> None:
    async def story() -> None:
        office = Office(harness, presence)
        office.reports.begin()
        await until(lambda: len(presence.words) == 1)
        office.load = Load(busy=2)
        await office.pass_a_minute()
        await until(lambda: len(presence.words) == 2)
        await office.reports.end()

    run(story())
    later = replace(THERE, seen_at_ms=NOW_MS + 60_000, busy=2)
    assert presence.words == [THERE, later, "worker-1"]
    assert presence.all() == []


def test_an_outage_is_logged_and_no_more(
    harness: WorkerHarness, presence: RecordedPresence, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        office = Office(harness, presence)
        presence.outage = Unavailable("the table is down")
        office.reports.begin()
        await office.pass_a_minute()
        await until(lambda: len(presence.words) == 2)
        await office.reports.end()

    run(story())
    assert caplog.messages == ["presence is not reported"] * 3


def test_nobody_waits_for_ever_for_the_last_word(
    harness: WorkerHarness, presence: RecordedPresence
) -> None:
    async def story() -> None:
        office = Office(harness, presence)
        presence.listens.clear()
        office.reports.begin()
        await until(lambda: len(presence.words) == 1)
        ending = asyncio.create_task(office.reports.end())
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
