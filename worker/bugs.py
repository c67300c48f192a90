"""Counts exceptions that nothing foresaw: one fails its task, several in a row end the worker."""

import traceback
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from switchyard.contracts.worker_log import BUG
from switchyard.observability import get_logger
from switchyard.ports import Clock
from worker.redaction import Redaction
from worker.stopping import Stop

logger = get_logger("worker")

MOST_IN_A_ROW: Final = 5
WITHIN_SECONDS: Final = 60.0
FRAMES: Final = 20
MAX_ERROR_CHARACTERS: Final = 2_000
CONSIDERED_CHARACTERS: Final = 100_000  # what is redacted gets shorter; the loop waits for it


class Unhealthy(Exception):
    """Whatever this worker takes from the queue fails by a bug: it must not take more."""


class Bugs:
    """Unexpected exceptions of all slots."""

    def __init__(
        self,
        clock: Clock,
        stop: Stop,
        *,
        redaction: Redaction | None = None,
        most_in_a_row: int = MOST_IN_A_ROW,
    ) -> None:
        self.count = 0
        """Since the worker started."""
        self._clock = clock
        self._stop = stop
        self._redaction = redaction or Redaction()
        self._most_in_a_row = most_in_a_row
        self._recent: deque[float] = deque(maxlen=most_in_a_row)
        self._last: Exception | None = None

    def note(self, bug: Exception, *, message_id: str) -> None:
        """Log it. After too many in a row nothing new is taken, and `check` raises."""
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
        """Forget those in a row: a message was handled without one."""
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
    """Where it came from, at most: a recursion has a thousand frames, and the loop writes them."""
    while isinstance(bug, BaseExceptionGroup):
        bug = bug.exceptions[0]
    frames = deque(_frames(bug.__traceback__), maxlen=FRAMES)
    return "".join(traceback.format_tb(frames[0])) if frames else ""


def _frames(place: TracebackType | None) -> Iterator[TracebackType]:
    while place is not None:
        yield place
        place = place.tb_next
