"""Pauses that grow with each try: the one place that knows how."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff(Generic[Number]):
    """Names the first pause and the longest; each is `factor` times the one before it.

    The unit is that of the two: whole milliseconds stay whole. Pauses are numbered from 0.
    """

    first: Number
    longest: Number
    factor: float = 2

    def at_most(self, number: int) -> Number:
        """Return the pause with this number, or, with jitter, the upper end of its range."""
        if self.longest <= self.first:
            return self.longest
        # A power with a large exponent would overflow long after the longest pause is reached.
        enough = 1 + math.ceil(math.log(self.longest / self.first, self.factor))
        power = self.factor ** min(number, enough)
        return type(self.first)(min(self.first * power, self.longest))

    def with_jitter(self, number: int, between: Callable[[float, float], float]) -> float:
        """Draw the pause from its whole range, so that clients that failed together spread out."""
        return between(0, self.at_most(number))

    def pauses(self, count: int) -> Iterator[Number]:
        return map(self.at_most, range(count))
