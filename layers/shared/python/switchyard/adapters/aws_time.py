"""AWS's time, estimated from the `Date` header of its answers, and the clock that follows it.

Machines whose wall clocks differ agree on this time: every one of them asks the same services. An
answer costs nothing extra, since only answers to requests that are made anyway are looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from threading import Lock
from typing import Any, Final

from switchyard.adapters.system import SystemClock
from switchyard.domain.health.clock_offset import ClockOffset

RESOLUTION_SECONDS: Final = 2.0
"""A `Date` header names a whole second, and a server may format it once a second."""
OLDER_FOR_SECONDS: Final = 30.0
"""The time for which a date older than an earlier answer's is taken for a stale header."""
DRIFT: Final = 200e-6
"""Seconds by which a local clock may gain or lose in a second: far more than quartz does."""
_SENT_AT: Final = "switchyard_sent_at"

Seconds = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of AWS's time less the local ticks, seen at the tick `at`."""

    low: float
    high: float
    at: float

    @classmethod
    def of_answer(cls, *, sent: float, received: float, date: float) -> "Bounds":
        """The header was written after the request was sent and before its answer arrived."""
        return cls(date - received, date + RESOLUTION_SECONDS - sent, received)

    def later(self, at: float) -> "Bounds":
        slack = DRIFT * max(0.0, at - self.at)
        return Bounds(self.low - slack, self.high + slack, max(at, self.at))

    def common(self, other: "Bounds") -> "Bounds | None":
        at = max(self.at, other.at)
        one, two = self.later(at), other.later(at)
        low, high = max(one.low, two.low), min(one.high, two.high)
        return Bounds(low, high, at) if low <= high else None

    def correct(self, offset: float) -> float:
        """Return the offset as it is, or the most probable one if it is impossible."""
        return offset if self.low <= offset <= self.high else (self.low + self.high) / 2


class AwsTime:
    """Estimates AWS's time: each answer narrows an interval.

    As long as the machine's own clock agrees with all answers it is believed, since an NTP server
    is more exact than a header. Otherwise AWS's time is that of the interval. A single answer that
    contradicts the earlier ones changes nothing; a second one that confirms it does.
    """

    def __init__(self, *, ticks: Seconds, wall: Seconds) -> None:
        """`ticks` must not be set by anyone while the process runs."""
        self._ticks = ticks
        self._wall = wall
        self._offset = wall() - ticks()
        self._bounds: Bounds | None = None
        self._contradiction: Bounds | None = None
        self._contradicted_since = 0.0
        self._lock = Lock()

    def now(self) -> float:
        return self._ticks() + self._offset

    def ticks(self) -> float:
        return self._ticks()

    def wall_offset(self) -> ClockOffset | None:
        """Return how far the wall clock is ahead; `None` before the first answer."""
        with self._lock:
            if self._bounds is None:
                return None
            bounds, offset = self._bounds.later(self._ticks()), self._offset
        ahead = self._wall() - self._ticks() - offset
        error = max(offset - bounds.low, bounds.high - offset)
        return ClockOffset(round(ahead * 1000), round(error * 1000))

    def note(self, *, sent: float, received: float, date: float) -> None:
        """`sent` and `received` are ticks, `date` is what the answer's header says."""
        seen = Bounds.of_answer(sent=sent, received=received, date=date)
        with self._lock:
            if self._bounds is None:
                self._go_by(seen)
            elif narrowed := self._bounds.common(seen):
                self._go_by(narrowed)
            else:
                self._contradict(self._bounds, seen)

    def _contradict(self, bounds: Bounds, seen: Bounds) -> None:
        confirmed = self._contradiction.common(seen) if self._contradiction else None
        if confirmed is None:
            self._contradiction, self._contradicted_since = seen, seen.at
            return
        self._contradiction = confirmed
        patience = 0.0 if seen.low > bounds.high else OLDER_FOR_SECONDS
        if seen.at - self._contradicted_since >= patience:
            self._go_by(confirmed)

    def _go_by(self, bounds: Bounds) -> None:
        self._bounds, self._contradiction = bounds, None
        self._offset = bounds.correct(self._offset)


class AwsClock:
    """The `SharedClock` of what runs on AWS or talks to it."""

    def __init__(self, time: AwsTime) -> None:
        self._time = time
        self._system = SystemClock()

    def now_ms(self) -> int:
        return round(self._time.now() * 1000)

    def monotonic(self) -> float:
        return self._system.monotonic()

    def sleep(self, seconds: float) -> None:
        self._system.sleep(seconds)

    def wall_offset(self) -> ClockOffset | None:
        return self._time.wall_offset()


@cache
def function_clock() -> AwsClock:
    """Return the clock of a function or a command, which counts wall-clock time between answers.

    A function is frozen between two invocations, and its monotonic clock may stand still with it,
    while its wall clock is right as soon as it is thawed.
    """
    return _clock(ticks=_wall)


@cache
def worker_clock() -> AwsClock:
    """Return the clock of a worker, which goes on as before when the wall clock is set."""
    return _clock(ticks=_SYSTEM.monotonic)


def observe_answers(client: Any) -> None:
    """Set the clock by every answer of a boto3 client, refusals included."""
    client.meta.events.register_last("request-created", _note_request)
    client.meta.events.register("response-received", _note_answer)


_SYSTEM: Final = SystemClock()
_OBSERVERS: Final[list[AwsTime]] = []


def _wall() -> float:
    return _SYSTEM.now_ms() / 1000


def _clock(*, ticks: Seconds) -> AwsClock:
    time = AwsTime(ticks=ticks, wall=_wall)
    _OBSERVERS.append(time)
    return AwsClock(time)


def _note_request(request: Any, **_: Any) -> None:
    """Note when a request is sent; each retry is created anew and calls this again."""
    request.context[_SENT_AT] = [time.ticks() for time in _OBSERVERS]


def _note_answer(response_dict: Any, context: Any, **_: Any) -> None:
    date = _date_in(response_dict)
    if date is None:
        return
    for time, sent in zip(_OBSERVERS, context.get(_SENT_AT, ()), strict=False):
        time.note(sent=sent, received=time.ticks(), date=date.timestamp())


def _date_in(response: Any) -> datetime | None:
    """Return `None` when nothing was answered, or an answer that does not say when."""
    header = response["headers"].get("date") if response else None
    try:
        return parsedate_to_datetime(header) if header else None
    except ValueError:
        return None
