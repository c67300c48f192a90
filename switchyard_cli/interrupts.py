"""Whether Ctrl-C was pressed, also where an import has swallowed the exception for it."""

import signal
from types import FrameType
from typing import Final

_pressed: Final[list[int]] = []


def raise_on_ctrl_c() -> None:
    """Raise `KeyboardInterrupt` on Ctrl-C, as Python does, and remember that it was pressed."""
    signal.signal(signal.SIGINT, _raise)


def was_pressed() -> bool:
    return bool(_pressed)


def _raise(number: int, frame: FrameType | None) -> None:
    _pressed.append(number)
    signal.default_int_handler(number, frame)
