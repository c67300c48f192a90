"""A short outage is no reason to give up, and neither is a refusal that will pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from switchyard.client.errors import RefusedForNow, Unreachable

if TYPE_CHECKING:
    from switchyard.ports import Clock

T = TypeVar("T")

Passing = RefusedForNow | Unreachable

OUTAGE_SECONDS: Final = 10.0
REFUSAL_SECONDS: Final = 60.0


def patiently(
    ask: Callable[[], T],
    clock: Clock,
    *,
    passing: tuple[type[Passing], ...] = (Unreachable,),
    seconds: float = OUTAGE_SECONDS,
    report: Callable[[Passing], None] = lambda _: None,
) -> T:
    """Ask again while what stands in the way is `passing`, unless that takes too long.

    `report` is called with each error before the next try.
    """
    deadline = clock.monotonic() + seconds
    while True:
        try:
            return ask()
        except passing as error:
            if clock.monotonic() + error.pause_seconds > deadline:
                raise
            report(error)
            clock.sleep(error.pause_seconds)
