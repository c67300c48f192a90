"""How often one looks again: often at first, ever less often for who waits long.

A key has 10,000 requests a day. Whoever waits for a whole day makes about 4,000 of them.
"""

from typing import Final

from switchyard.ports import Clock

LONGEST_SECONDS: Final = 30.0
LOOKS_PER_PAST: Final = 200
"""After a minute one looks about every third of a second, after an hour every 18 seconds."""


class Pacing:
    def __init__(
        self, clock: Clock, *, fastest_seconds: float, slowest_seconds: float, slowing_down: float
    ) -> None:
        """Between the two as long as nothing happens, and back to the first when something does."""
        self._clock = clock
        self._fastest = self._pause = fastest_seconds
        self._slowest = slowest_seconds
        self._slowing_down = slowing_down
        self._began = clock.monotonic()

    def rest(self, *, news: bool, at_least: float = 0.0) -> None:
        slower = min(self._pause * self._slowing_down, self._slowest)
        self._pause = self._fastest if news else slower
        waited = self._clock.monotonic() - self._began
        for_long = min(waited / LOOKS_PER_PAST, LONGEST_SECONDS)
        self._clock.sleep(max(self._pause, for_long, at_least))
