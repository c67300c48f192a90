"""Lets a request in if its key has not made too many."""

from dataclasses import dataclass, field
from typing import Final

from switchyard.contracts.jobs import instant
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.rates import Admitted, DayUsedUp, Limits, TooFast
from switchyard.domain.errors import TooManyRequests, Unavailable
from switchyard.ports import Clock, RequestRates

MAX_REMEMBERED: Final = 1_000
"""Keys: more than take part in a flood, and less than a function's memory would notice."""

_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Wait:
    reason: str
    until_us: int


@dataclass(frozen=True, kw_only=True)
class Gate:
    rates: RequestRates
    limits: Limits
    clock: Clock
    waits: dict[Caller, Wait] = field(default_factory=dict)
    """Of those who were refused here, the oldest first: until then a flood costs no writes.

    What other functions count meanwhile can only make them longer.
    """

    def admit(self, caller: Caller) -> str | None:
        """Raise `TooManyRequests`.

        A request that could not be counted is let in, and the answer is why: a limit that cannot be
        checked shall not be what keeps a tenant out.
        """
        now_ms = self.clock.now_ms()
        known = self.waits.get(caller)
        if known is not None and known.until_us > now_ms * 1000:
            raise _refusal(known, now_ms)
        try:
            verdict = self.rates.take(caller, limits=self.limits, now_ms=now_ms)
        except Unavailable as outage:
            return str(outage)
        self.waits.pop(caller, None)
        if isinstance(verdict, Admitted):
            return None
        wait = self._wait(verdict, now_ms)
        self._remember(caller, wait)
        raise _refusal(wait, now_ms)

    def _remember(self, caller: Caller, wait: Wait) -> None:
        if len(self.waits) >= MAX_REMEMBERED:
            del self.waits[next(iter(self.waits))]
        self.waits[caller] = wait

    def _wait(self, verdict: TooFast | DayUsedUp, now_ms: int) -> Wait:
        limits = self.limits
        if isinstance(verdict, TooFast):
            allowed = f"{limits.per_second:,} requests a second, and {limits.burst:,} at once"
            return Wait(f"a key may make {allowed}", now_ms * 1000 + verdict.wait_us)
        again = f"the next day begins at {instant(verdict.resets_at_ms):%Y-%m-%dT%H:%M:%SZ}"
        reason = f"a key may make {limits.per_day:,} requests a day; {again}"
        return Wait(reason, verdict.resets_at_ms * 1000)


def _refusal(wait: Wait, now_ms: int) -> TooManyRequests:
    seconds = -(-(wait.until_us - now_ms * 1000) // _SECOND_US)
    return TooManyRequests(wait.reason, retry_after_seconds=max(1, seconds))
