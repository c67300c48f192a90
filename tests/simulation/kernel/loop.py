"""An event loop whose time is a number: nothing waits, everything happens in order."""

import asyncio
from typing import Any

MOST_ROUNDS = 100_000


class VirtualLoop(asyncio.BaseEventLoop):
    """Jumps to the next timer whenever nothing is ready."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._rounds_without_time = 0
        self._selector = self

    def time(self) -> float:
        return self._now

    def jump_to(self, now: float) -> None:
        """Continue at a later moment, such as the one at which a stage was saved."""
        self._now = max(self._now, now)

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everything waits for something that will never happen")
        self._rounds_without_time = 0 if timeout else self._rounds_without_time + 1
        if self._rounds_without_time > MOST_ROUNDS:
            raise RuntimeError(f"time stands still at {self._now:.3f} s")
        self._now += timeout
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        """No sockets, no pipes: only timers."""

    def _write_to_self(self) -> None:
        """No other thread ever has to wake this loop."""
