"""Reasons for which a worker stops: a signal, unexpected exceptions in a row, or a wrong clock.

A signal sets an event, and everything else follows from reading it. A wrong clock within AWS's
bound harms no task, and is logged; beyond it AWS refuses all requests that the worker signs.
"""

import asyncio
import signal
import traceback
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Final, NoReturn

from switchyard.contracts.worker_log import BUG
from switchyard.domain.health.clock_offset import ClockOffset, problem_with
from switchyard.observability import get_logger
from switchyard.ports import Clock, SharedClock, Sleep
from switchyard_worker.guard.redaction import Redaction

logger = get_logger("worker")


class Stop:
    """The stop that the platform has asked for so far."""

    def __init__(self, *, grace_seconds: float, sleep: Sleep) -> None:
        self.asked = asyncio.Event()
        """Take nothing new."""
        self.grace_over = asyncio.Event()
        """Give back the attempts that still run."""
        self.insisted = asyncio.Event()
        """Leave at once."""
        self._grace_seconds = grace_seconds
        self._sleep = sleep

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.ask)

    def ask(self) -> None:
        """Go one step further: take nothing new, hand back what runs, leave at once."""
        for step in (self.asked, self.grace_over, self.insisted):
            if not step.is_set():
                step.set()
                return

    async def end_grace(self) -> None:
        await self.asked.wait()
        await self._sleep(self._grace_seconds)
        self.grace_over.set()


MOST_IN_A_ROW: Final = 5
WITHIN_SECONDS: Final = 60.0
FRAMES: Final = 20
MAX_ERROR_CHARACTERS: Final = 2_000
CONSIDERED_CHARACTERS: Final = 100_000  # what is redacted gets shorter; the loop waits for it


class Unhealthy(Exception):
    """Too many messages in a row failed by a bug: the worker must not take more."""


class Bugs:
    """Counts unexpected exceptions of all slots: several in a row stop the worker."""

    def __init__(
        self,
        clock: Clock,
        stop: Stop,
        *,
        redaction: Redaction | None = None,
        most_in_a_row: int = MOST_IN_A_ROW,
    ) -> None:
        self.count = 0
        """The number of bugs since the worker started."""
        self._clock = clock
        self._stop = stop
        self._redaction = redaction or Redaction()
        self._most_in_a_row = most_in_a_row
        self._recent: deque[float] = deque(maxlen=most_in_a_row)
        self._last: Exception | None = None

    def note(self, bug: Exception, *, message_id: str) -> None:
        """Log an exception; after too many in a row nothing is received, and `check` raises."""
        self.count += 1
        fields = {"message_id": message_id, **described(bug, self._redaction), "bugs": self.count}
        logger.error(BUG, extra=fields)
        now = self._clock.monotonic()
        self._recent.append(now)
        if len(self._recent) == self._most_in_a_row and now - self._recent[0] <= WITHIN_SECONDS:
            self._last = bug
            logger.critical("worker is unhealthy", extra={"bugs": self.count})
            if not self._stop.asked.is_set():  # a second request would end the others at once
                self._stop.ask()

    def reset(self) -> None:
        """Reset the count in a row: a message was handled without an exception."""
        self._recent.clear()

    def check(self) -> None:
        """Raise `Unhealthy` if there were too many in a row."""
        if self._last is not None:
            raise Unhealthy(f"{self._most_in_a_row} bugs in a row") from self._last


def described(bug: BaseException, redaction: Redaction) -> dict[str, str]:
    """Return an exception's fields for the log, without secrets that its text may hold."""
    error = redaction.error(f"{type(bug).__name__}: {bug}"[:CONSIDERED_CHARACTERS])
    return {"error": error[:MAX_ERROR_CHARACTERS], "traceback": last_frames(bug)}


def last_frames(bug: BaseException) -> str:
    """Return the last frames of a traceback: all of a recursion would hold up the loop."""
    while isinstance(bug, BaseExceptionGroup):
        bug = bug.exceptions[0]
    frames = deque(_frames(bug.__traceback__), maxlen=FRAMES)
    return "".join(traceback.format_tb(frames[0])) if frames else ""


def _frames(place: TracebackType | None) -> Iterator[TracebackType]:
    while place is not None:
        yield place
        place = place.tb_next


LOOK_SECONDS: Final = 60.0
LOOKS_BEFORE_LEAVING: Final = 2
"""A laptop that slept needs some answers until it knows the time again."""


class WrongClock(Exception):
    """AWS refuses the requests of this machine; the text explains what to do."""


class ClockWatch:
    def __init__(self, clock: SharedClock, stop: Stop, *, sleep: Sleep) -> None:
        self._clock = clock
        self._stop = stop
        self._sleep = sleep
        self._noticed = False
        self._refused = 0
        self._reason: str | None = None

    def check(self) -> None:
        """Raise `WrongClock` if AWS refuses what this machine signs."""
        offset = self._clock.wall_offset()
        if offset is None:
            logger.warning("AWS's time is not known, the machine's clock is used")
            return
        self._report(offset)
        self._reason = problem_with(offset)
        self.close()

    def close(self) -> None:
        """Raise `WrongClock` if that is why the worker stopped."""
        if self._reason:
            raise WrongClock(self._reason)

    async def keep(self) -> NoReturn:
        """Look every minute; ask the worker to stop once its clock stays beyond the bound."""
        while True:
            await self._sleep(LOOK_SECONDS)
            offset = self._clock.wall_offset()
            if offset is not None:
                self._report(offset)
                self._count(offset)

    def _count(self, offset: ClockOffset) -> None:
        self._refused = self._refused + 1 if offset.refused else 0
        if self._refused == LOOKS_BEFORE_LEAVING and not self._stop.asked.is_set():
            self._reason = problem_with(offset)
            logger.error("worker stops", extra={"reason": self._reason})
            self._stop.ask()

    def _report(self, offset: ClockOffset) -> None:
        """Log once that the clock is wrong, and once that it is right again."""
        fields = {"ahead_ms": offset.ahead_ms, "error_ms": offset.error_ms}
        if offset.noticeable and not self._noticed:
            logger.warning("clock is wrong, AWS's time is used", extra=fields)
        elif self._noticed and not offset.noticeable:
            logger.info("clock is right again", extra=fields)
        self._noticed = offset.noticeable
