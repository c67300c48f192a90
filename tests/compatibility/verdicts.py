"""Makes verdicts on attempts, by the sources that run: releases have them in another module."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

MakeVerdict = Callable[..., Any]

_TODAYS: Final = find_spec("worker.parent") is not None
_VERDICTS: Final = import_module("worker.parent.attempts.verdict" if _TODAYS else "worker.verdict")

completed: Final[MakeVerdict] = _VERDICTS.completed if _TODAYS else _VERDICTS.Completed
failed: Final[MakeVerdict] = _VERDICTS.failed if _TODAYS else _VERDICTS.Failed
timed_out: Final[MakeVerdict] = _VERDICTS.timed_out if _TODAYS else _VERDICTS.TimedOut
