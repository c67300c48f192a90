"""What a task prints while it runs."""

from collections.abc import Sequence
from typing import Protocol


class TaskOutput(Protocol):
    """One task's, as its worker's log repeats it."""

    def news(self) -> Sequence[str]:
        """What came since the last call, the oldest first, nothing twice. Raise `Unavailable`."""
