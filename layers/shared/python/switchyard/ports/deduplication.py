"""The port that records what must not happen a second time."""

from typing import Protocol


class Deduplication(Protocol):
    def first(self, name: str, *, now_ms: int, keep_ms: int) -> bool:
        """Whether nobody else has come with this name, at least so long ago. Of several at once
        one is the first.

        Raise `AnswerLost` when nobody knows: then nobody is.
        """
