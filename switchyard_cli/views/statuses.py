"""How the statuses of jobs and tasks look, and which are final."""

from typing import Final

from rich.text import Text

from switchyard.client.statuses import COMPLETED, FAILED, FINAL
from switchyard_cli.terminal import clean

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
    return Text(sign, style=style)


def coloured(status: str, words: str | None = None) -> Text:
    """Return the status, or what is said instead of it, in the status's colour."""
    return Text(clean(words or status), style=_LOOKS.get(status, _UNKNOWN)[1])
