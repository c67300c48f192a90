"""Lets a request in if its key has not made too many."""

from dataclasses import dataclass
from typing import Final

from switchyard.contracts.jobs import instant
from switchyard.domain.api_keys import Caller
from switchyard.domain.errors import TooManyRequests, Unavailable
from switchyard.domain.rates import DayUsedUp, Limits, TooFast
from switchyard.ports import Clock, RequestRates

_SECOND_US: Final = 1_000_000
_SECOND_MS: Final = 1_000


@dataclass(frozen=True, kw_only=True)
class Gate:
    rates: RequestRates
    limits: Limits
    clock: Clock

    def admit(self, caller: Caller) -> str | None:
        """Raise `TooManyRequests`.

        A request that could not be counted is let in, and the answer is why: a limit that cannot be
        checked shall not be what keeps a tenant out.
        """
        now_ms = self.clock.now_ms()
        try:
            verdict = self.rates.take(caller, limits=self.limits, now_ms=now_ms)
        except Unavailable as outage:
            return str(outage)
        match verdict:
            case TooFast(wait_us):
                raise self._too_fast(wait_us)
            case DayUsedUp(resets_at_ms):
                raise self._day_used_up(resets_at_ms, now_ms)
        return None

    def _too_fast(self, wait_us: int) -> TooManyRequests:
        return TooManyRequests(
            f"a key may make {self.limits.per_second:,} requests a second, "
            f"and {self.limits.burst:,} at once",
            retry_after_seconds=_rounded_up(wait_us, _SECOND_US),
        )

    def _day_used_up(self, resets_at_ms: int, now_ms: int) -> TooManyRequests:
        again = instant(resets_at_ms)
        return TooManyRequests(
            f"a key may make {self.limits.per_day:,} requests a day; "
            f"the next day begins at {again:%Y-%m-%dT%H:%M:%SZ}",
            retry_after_seconds=_rounded_up(resets_at_ms - now_ms, _SECOND_MS),
        )


def _rounded_up(span: int, unit: int) -> int:
    return max(1, -(-span // unit))
