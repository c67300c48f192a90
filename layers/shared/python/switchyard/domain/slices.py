"""Long lists, a piece at a time."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_slices(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
