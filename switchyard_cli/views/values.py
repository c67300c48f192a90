"""Inputs and outputs of tasks, as pretty JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.json import JSON

from switchyard.domain.text import clean_values

if TYPE_CHECKING:
    from rich.console import Console

MAX_LINES: Final = 200


def print_value(value: Any, console: Console) -> None:
    pretty = JSON.from_data(clean_values(value), ensure_ascii=False).text
    lines = pretty.split("\n")
    for line in lines[:MAX_LINES]:
        console.print(line, soft_wrap=True)
    left_out = len(lines) - MAX_LINES
    if left_out > 0:
        console.print(f"… {left_out} more lines; `switchyard task --json` shows all", style="dim")
