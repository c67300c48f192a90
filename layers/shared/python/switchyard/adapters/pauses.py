"""Pauses between tries, each longer and never the same for two who wait."""

import random
import time
from collections.abc import Iterator
from typing import Final

LONGEST_SECONDS: Final = 2.0


def tries(count: int, *, first_pause_seconds: float = 0.05) -> Iterator[int]:
    """`0 … count - 1`, with a pause before each but the first."""
    yield 0
    for number in range(1, count):
        longest = min(LONGEST_SECONDS, first_pause_seconds * 2**number)
        time.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, guards nothing
        yield number
