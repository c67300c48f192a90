"""Waits until the API accepts what it will accept a little later, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from switchyard.client.errors import RefusedForNow
from switchyard.client.patience import REFUSAL_SECONDS, Passing, patiently
from switchyard_cli.terminal import notices

if TYPE_CHECKING:
    from switchyard.ports import Clock

T = TypeVar("T")


def until_accepted(
    ask: Callable[[], T], clock: Clock, *, also: tuple[type[Passing], ...] = ()
) -> T:
    """Ask again until accepted; errors in `also` pass too, where asking again does no harm."""
    passing = (RefusedForNow, *also)
    return patiently(ask, clock, passing=passing, seconds=REFUSAL_SECONDS, report=_report)


def _report(refused: Passing) -> None:
    notices().print(f"{refused} Trying again.", style="dim", soft_wrap=True)
