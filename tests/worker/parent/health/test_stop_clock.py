"""The machine's clock against AWS's time: what is logged, and when the worker leaves."""

import asyncio
import logging

import pytest

from switchyard.domain.health.clock_offset import ClockOffset
from switchyard.testing import ManualClock
from switchyard_worker.parent.health.stop import LOOKS_BEFORE_LEAVING, ClockWatch, Stop, WrongClock

RIGHT = ClockOffset(ahead_ms=200, error_ms=900)
WRONG = ClockOffset(ahead_ms=-299_000, error_ms=900)
REFUSED = ClockOffset(ahead_ms=400_000, error_ms=900)


class Enough(Exception):
    pass


class Watched:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.stop = Stop(grace_seconds=0, sleep=asyncio.sleep)
        self.watch = ClockWatch(self.clock, self.stop, sleep=self._sleep)
        self._to_come: list[ClockOffset | None] = []

    async def _sleep(self, _seconds: float) -> None:
        if not self._to_come:
            raise Enough
        self.clock.offset = self._to_come.pop(0)

    def look(self, *offsets: ClockOffset | None) -> None:
        """Once a minute, at these."""
        self._to_come = list(offsets)
        with pytest.raises(Enough):
            asyncio.run(self.watch.keep())


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_worker_does_not_start_when_aws_would_refuse_its_requests(watched: Watched) -> None:
    watched.clock.offset = REFUSED
    with pytest.raises(WrongClock, match=r"400 s ahead of AWS's time .* Synchronise the clock"):
        watched.watch.check()


@pytest.mark.parametrize("offset", [RIGHT, WRONG, None])
def test_a_worker_starts_with_any_other_clock(watched: Watched, offset: ClockOffset | None) -> None:
    watched.clock.offset = offset
    watched.watch.check()
    watched.watch.close()


def test_a_wrong_clock_is_logged_once_and_once_more_when_it_is_right(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        watched.look(RIGHT, WRONG, WRONG, None, WRONG, RIGHT, RIGHT)
    assert [record.message for record in caplog.records] == [
        "clock is wrong, AWS's time is used",
        "clock is right again",
    ]
    assert not watched.stop.asked.is_set()


def test_a_worker_stops_when_its_clock_stays_beyond_the_bound(watched: Watched) -> None:
    watched.look(*[REFUSED] * LOOKS_BEFORE_LEAVING)
    assert watched.stop.asked.is_set()
    with pytest.raises(WrongClock):
        watched.watch.close()


def test_a_worker_whose_clock_is_set_back_in_time_stays(watched: Watched) -> None:
    watched.look(*[REFUSED] * (LOOKS_BEFORE_LEAVING - 1), WRONG, REFUSED)
    assert not watched.stop.asked.is_set()


def test_a_worker_that_stops_already_is_not_asked_twice(watched: Watched) -> None:
    """The second time would mean: at once."""
    watched.stop.ask()
    watched.look(*[REFUSED] * 5)
    assert not watched.stop.insisted.is_set()
