"""Tables without lines, in which one column gives way when the screen is narrow."""

from rich.table import Table
from rich.text import Text

from switchyard_cli.terminal import clean


def table_of(*fixed: str, giving_way: str) -> Table:
    """The last column shrinks first; the others stay whole as long as they can."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for header in fixed:
        table.add_column(header, no_wrap=True)
    table.add_column(giving_way)
    return table


def cut_to_fit(text: str, style: str = "") -> Text:
    """For cells of the last column: one line, ending in … where the screen does."""
    return Text(clean(text), style=style, no_wrap=True, overflow="ellipsis")
