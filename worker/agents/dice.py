"""Chance that falls the same way for the same seed, in every process."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    def __init__(self, seed: str) -> None:
        self._seed = seed.encode("utf-8", "surrogatepass")
        self._rolls = 0

    def roll(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        self._rolls += 1
        digest = hashlib.blake2b(self._seed, digest_size=8, salt=self._rolls.to_bytes(8, "big"))
        return low + int.from_bytes(digest.digest(), "big") % (high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.roll(0, len(options) - 1)]
