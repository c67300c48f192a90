"""Ports of the machine that a process runs on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from switchyard.domain.health.clock_offset import ClockOffset

A = TypeVar("A")
B = TypeVar("B")


class Clock(Protocol):
    def now_ms(self) -> int: ...

    def monotonic(self) -> float:
        """Return seconds on a clock that is never set."""

    def sleep(self, seconds: float) -> None: ...


class SharedClock(Clock, Protocol):
    """A clock whose `now_ms` may be compared with what another machine stored."""

    def wall_offset(self) -> ClockOffset | None:
        """Return how far the wall clock is ahead of the shared time; `None` if not known."""


Sleep = Callable[[float], Awaitable[None]]
"""Waits, in seconds, without holding up the event loop."""


class Ids(Protocol):
    def new_job_id(self) -> str: ...

    def new_worker_id(self) -> str: ...

    def new_secret(self) -> str: ...


class Randomness(Protocol):
    def between(self, low: float, high: float) -> float: ...


class Parallel(Protocol):
    """Does the same to several things, perhaps at once."""

    def each(self, act: Callable[[A], B], things: Sequence[A]) -> list[B]:
        """The answers, in the order of the things.

        If one fails the others are tried all the same; then the first error is raised.
        """


class ScaleInProtection(Protocol):
    """Asks the platform to spare this worker when it takes some away."""

    def protect(self, *, minutes: int) -> None:
        """Protect from now on, however often it was asked before. Raise `Unavailable`."""

    def drop(self) -> None:
        """Raise `Unavailable`."""
