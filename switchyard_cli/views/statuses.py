"""The looks of the statuses of jobs and tasks, and which are final."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from switchyard.client.statuses import COMPLETED, FAILED, FINAL
from switchyard_cli.terminal import styled

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["COMPLETED", "FAILED", "FINAL", "coloured", "symbol"]

_LOOKS: Final = {
    "waiting": ("·", "dim"),
    "pending": ("○", "cyan"),
    "processing": ("●", "bold blue"),
    "held": ("◇", "bold cyan"),
    "retrying": ("↻", "yellow"),
    "partial_failure": ("●", "bold yellow"),
    COMPLETED: ("✔", "green"),
    FAILED: ("✘", "bold red"),
    "skipped": ("⊘", "dim"),
    "cancelled": ("■", "magenta"),
}
_UNKNOWN: Final = ("?", "")


def symbol(status: str) -> Text:
    sign, style = _LOOKS.get(status, _UNKNOWN)
    return styled(sign, style)


def coloured(status: str, words: str | None = None) -> Text:
    """Return the status, or what is said instead of it, in the status's colour."""
    return styled(words or status, _LOOKS.get(status, _UNKNOWN)[1])
