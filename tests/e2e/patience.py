"""Waiting for what the cloud does by itself."""

from collections.abc import Callable
from typing import TypeVar

from switchyard.adapters.system import SystemClock

PATIENCE_SECONDS = 30

T = TypeVar("T")


def eventually(look: Callable[[], T | None], what: str, *, seconds: float = PATIENCE_SECONDS) -> T:
    """What `look` sees as soon as it sees anything; `what` says what is wrong if it never does."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    while True:
        seen = look()
        if seen is not None:
            return seen
        assert clock.monotonic() < deadline, what
        clock.sleep(0.1)
