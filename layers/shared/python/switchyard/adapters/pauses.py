"""Pauses between tries, each longer and never the same for two who wait."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_SECONDS: Final = 2.0
FIRST_SECONDS: Final = 0.05
DOUBLINGS: Final = 10  # by then a pause is the longest anyway


@dataclass(frozen=True, slots=True)
class Pauses:
    sleep: Callable[[float], None]
    between: Callable[[float, float], float]
    monotonic: Callable[[], float]

    def tries(self, count: int) -> Iterator[int]:
        """`0 … count - 1`, with a pause before each but the first."""
        yield 0
        for number in range(1, count):
            self.sleep(self._pause(number))
            yield number

    def tries_until(self, end: float) -> Iterator[int]:
        """`0, 1 …`, with a pause before each but the first, none of them over after `end`."""
        number = 0
        yield number
        while self.monotonic() + (pause := self._pause(number + 1)) < end:
            self.sleep(pause)
            number += 1
            yield number

    def _pause(self, number: int) -> float:
        longest = FIRST_SECONDS * 2 ** min(number, DOUBLINGS)
        return self.between(0, min(LONGEST_SECONDS, longest))


SYSTEM_PAUSES: Final = Pauses(time.sleep, random.uniform, time.monotonic)
