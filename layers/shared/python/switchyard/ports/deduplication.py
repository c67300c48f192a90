"""The port that records what must not happen a second time."""

from typing import Protocol


class Deduplication(Protocol):
    def first(self, name: str, *, now_ms: int, keep_ms: int) -> bool:
        """Return whether the caller is the first with this name within `keep_ms`. Of several at
        once one is the first.

        Raise `AnswerLost` when that is unknown: then no caller is the first.
        """
