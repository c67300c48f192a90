"""How many requests a key may make: so many a second, some of them at once, so many a day.

`free_at_us` is when the key would be idle again had its requests come evenly, one a step (this is
known as GCRA). It may run ahead of the clock by as much as a burst takes, so within any time `t` no
more than `burst + rate * t` are admitted. In microseconds: few rates divide a millisecond.
"""

from dataclasses import dataclass, replace
from typing import Final

from switchyard.domain.moments import day_of, end_of_day_ms

_SECOND_US: Final = 1_000_000
_SKEW_US: Final = _SECOND_US  # clocks of functions differ by far less


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    per_second: int = 100
    burst: int = 50
    per_day: int = 10_000

    @property
    def step_us(self) -> int:
        return -(-_SECOND_US // self.per_second)  # rounded up: never faster than the rate

    def latest_us(self, now_us: int) -> int:
        """Up to here a key may be ahead of the clock and make one more request."""
        return now_us + (self.burst - 1) * self.step_us

    def is_honest(self, free_at_us: int, now_us: int) -> bool:
        """Whether clocks that are right could have led there."""
        return free_at_us <= now_us + self.burst * self.step_us + _SKEW_US


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What is remembered of a key."""

    free_at_us: int
    day: str
    requests: int
    """On that day."""


@dataclass(frozen=True, slots=True)
class Admitted:
    use: Use
    """With this request in it."""


@dataclass(frozen=True, slots=True)
class TooFast:
    wait_us: int


@dataclass(frozen=True, slots=True)
class DayUsedUp:
    resets_at_ms: int


Verdict = Admitted | TooFast | DayUsedUp


def judge(seen: Use | None, *, now_ms: int, limits: Limits) -> Verdict:
    """A day that another clock has begun already counts as begun.

    A clock that was far ahead keeps nobody out: then all of the burst but this request is used up.
    """
    now_us, today = now_ms * 1000, day_of(now_ms)
    use = seen or Use(free_at_us=now_us, day=today, requests=0)
    if use.day < today:
        use = replace(use, day=today, requests=0)
    if not limits.is_honest(use.free_at_us, now_us):
        use = replace(use, free_at_us=limits.latest_us(now_us))
    if use.requests >= limits.per_day:
        return DayUsedUp(end_of_day_ms(use.day))
    wait_us = use.free_at_us - limits.latest_us(now_us)
    if wait_us > 0:
        return TooFast(wait_us)
    free_at_us = max(use.free_at_us, now_us) + limits.step_us
    return Admitted(replace(use, free_at_us=free_at_us, requests=use.requests + 1))
