"""How often each key has been used of late."""

from typing import Protocol

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.rates import Limits, Verdict


class RequestRates(Protocol):
    """Counts requests, one key at a time."""

    def take(self, caller: Caller, *, limits: Limits, now_ms: int) -> Verdict:
        """Count a request if it is within the limits, however many are made at once.

        What was refused is not counted, and what cannot be counted because there are too many is
        refused. Raise `Unavailable`: then nobody knows whether it was.
        """
