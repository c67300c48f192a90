"""Decides when to look again: often at first, ever less often during a long wait.

A key has 10,000 requests a day. A caller that waits for a whole day makes about 4,000 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from switchyard.domain.backoff import Backoff
    from switchyard.ports import Clock

LONGEST_SECONDS: Final = 30.0
LOOKS_PER_PAST: Final = 200
"""The divisor of the time so far: after a minute one looks every 0.3 seconds."""


class Pacing:
    def __init__(self, clock: Clock, backoff: Backoff[float]) -> None:
        """Lengthen the pauses while nothing happens, and begin again when something does."""
        self._clock = clock
        self._backoff = backoff
        self._looks_without_news = 0
        self._began = clock.monotonic()

    def rest(self, *, news: bool, at_least: float = 0.0) -> None:
        self._looks_without_news = 0 if news else self._looks_without_news + 1
        pause = self._backoff.at_most(self._looks_without_news)
        waited = self._clock.monotonic() - self._began
        for_long = min(waited / LOOKS_PER_PAST, LONGEST_SECONDS)
        self._clock.sleep(max(pause, for_long, at_least))
