"""A short outage of the API is no reason to stop looking."""

from collections.abc import Callable
from typing import Final, TypeVar

from cli.errors import Unreachable
from switchyard.ports import Clock

T = TypeVar("T")

OUTAGE_PATIENCE_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 1.0


def patiently(read: Callable[[], T], clock: Clock) -> T:
    deadline = clock.monotonic() + OUTAGE_PATIENCE_SECONDS
    while True:
        try:
            return read()
        except Unreachable:
            if clock.monotonic() >= deadline:
                raise
            clock.sleep(PAUSE_SECONDS)
