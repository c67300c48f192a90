"""Pauses between tries, each longer and never the same for two who wait."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from switchyard.domain.backoff import Backoff

BACKOFF: Final = Backoff(first=0.05, longest=2.0)  # seconds


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
        return BACKOFF.with_jitter(number, self.between)


SYSTEM_PAUSES: Final = Pauses(time.sleep, random.uniform, time.monotonic)
