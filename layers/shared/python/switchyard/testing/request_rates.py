"""Requests of each key, in memory."""

import threading

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.rates import Admitted, Limits, Use, Verdict, judge


class MemoryRequestRates:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[Caller, Use] = {}

    def take(self, caller: Caller, *, limits: Limits, now_ms: int) -> Verdict:
        with self._lock:
            verdict = judge(self._uses.get(caller), now_ms=now_ms, limits=limits)
            if isinstance(verdict, Admitted):
                self._uses[caller] = verdict.use
            return verdict
