"""What happened, by the minute, and which minutes were published."""

from collections.abc import Mapping
from typing import Protocol

from switchyard.domain.measuring.counts import Counts


class Counters(Protocol):
    """Adds up what events tell, for two days. At best: nothing is decided by it."""

    def add(self, minute_ms: int, counts: Counts) -> None:
        """To what was added before. Raise `Unavailable`, whatever went wrong."""

    def between(self, from_ms: int, to_ms: int) -> Mapping[int, Counts]:
        """By the minutes that begin at `from_ms` or later and before `to_ms`, in their order.

        Minutes in which nothing happened are left out.
        """


class PublishedMinutes(Protocol):
    """Sees to it that no minute is published twice."""

    def take(self, *, until_ms: int, at_most_ms: int) -> int | None:
        """Where the minutes begin that are now the caller's, up to `until_ms`.

        They go on where the last caller's ended, but not further back than `at_most_ms`. `None` if
        there are none: another has them, or had later ones.
        """
