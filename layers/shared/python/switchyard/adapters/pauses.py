"""Pauses between tries, each longer and never the same for two who wait."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Pauses:
    sleep: Callable[[float], None]
    between: Callable[[float, float], float]

    def tries(self, count: int, *, first_pause_seconds: float = 0.05) -> Iterator[int]:
        """`0 … count - 1`, with a pause before each but the first."""
        yield 0
        for number in range(1, count):
            longest = min(LONGEST_SECONDS, first_pause_seconds * 2**number)
            self.sleep(self.between(0, longest))
            yield number


SYSTEM_PAUSES: Final = Pauses(time.sleep, random.uniform)
