"""Compares the machine's wall clock with AWS's time, by which the worker goes.

A wrong clock within AWS's bound harms no task, and is logged. Beyond it AWS refuses whatever the
worker signs: the worker does not start, or stops.
"""

from typing import Final, NoReturn

from switchyard.domain.health.clock_offset import ClockOffset, problem_with
from switchyard.observability import get_logger
from switchyard.ports import SharedClock, Sleep
from worker.stopping import Stop

logger = get_logger("worker")

LOOK_SECONDS: Final = 60.0
LOOKS_BEFORE_LEAVING: Final = 2
"""A laptop that slept needs some answers until it knows the time again."""


class WrongClock(Exception):
    """AWS refuses the requests of this machine; the text says what to do."""


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
