"""Ends what takes too long, from outside: an agent need not know of it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

AGAIN_SECONDS: Final = 5.0  # an event loop may swallow the first one while it runs a callback


class StepTimedOut(Exception):
    def __init__(self, milliseconds: int) -> None:
        super().__init__(f"the step took longer than {milliseconds} ms")


@contextmanager
def alarm_after(milliseconds: int) -> Iterator[None]:
    """Raise `StepTimedOut` in the block once the time is over."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise StepTimedOut(milliseconds)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(milliseconds, 1) / 1000, AGAIN_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
