"""Tables without lines, in which one column gives way when the screen is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard_cli.terminal import clean

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def table_of(*fixed: str, giving_way: str) -> Table:
    """The last column shrinks first; the others stay whole as long as they can."""
    from rich.table import Table  # noqa: PLC0415 - help needs no Rich

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for header in fixed:
        table.add_column(header, no_wrap=True)
    table.add_column(giving_way)
    return table


def cut_to_fit(text: str, style: str = "") -> Text:
    """Return a cell of the last column: one line, ending in … where the screen does."""
    from rich.text import Text  # noqa: PLC0415 - help needs no Rich

    return Text(clean(text), style=style, no_wrap=True, overflow="ellipsis")


def one_line(text: str) -> Text:
    """Show text that is clean already on one line, with the spaces at its beginning."""
    from rich.text import Text  # noqa: PLC0415 - help needs no Rich

    return Text(text, no_wrap=True, overflow="ellipsis")
