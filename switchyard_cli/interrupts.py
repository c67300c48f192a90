"""Whether Ctrl-C was pressed, also where an import has swallowed the exception for it."""

import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_pressed: Final[list[int]] = []
_SECONDS_UNTIL_AGAIN: Final = 0.005


def raise_on_ctrl_c() -> None:
    """Raise `KeyboardInterrupt` on Ctrl-C, as Python does, and remember that it was pressed."""
    signal.signal(signal.SIGINT, _raise)
    sys.unraisablehook = _raise_later


def was_pressed() -> bool:
    return bool(_pressed)


def _raise(number: int, frame: FrameType | None) -> None:
    _pressed.append(number)
    signal.default_int_handler(number, frame)


def _raise_later(unraisable: "UnraisableHookArgs") -> None:
    """Raise it soon again: callbacks and destructors cannot, and Python would print a traceback."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_UNTIL_AGAIN)
